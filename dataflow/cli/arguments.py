"""Arguments of commands: input values, files and ages."""

from __future__ import annotations

import json
import os
import re
from datetime import timedelta
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, NoReturn, get_args, get_origin

from dataflow.base.wording import choices, listed
from dataflow.cli.output import ExitCode, Problem, Refused, one_line, read_stdin
from dataflow.core.ports import MISSING
from dataflow.errors import SecretMissing, ValueMismatch
from dataflow.secrets.secret import Secret, look_up
from dataflow.types.shapes import alternatives, bare, type_name
from dataflow.types.validation import check_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.core.wiring import FlowInput


__all__ = ["STDIN", "Given", "is_secret", "json_of", "read_age", "read_inputs", "reason_of", "secret_of"]

STDIN: Final = "-"
PROMPT: Final = "prompt"
_AGE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class Given(NamedTuple):
    """What stands on the command line for a value; a prompt names no file, whatever it begins with."""

    text: str
    may_be_file: bool = True

    def read(self) -> str:
        """Return the text itself, or that of the file or of standard input that it stands for."""
        if self.text == STDIN:
            return read_stdin()
        if self.may_be_file and self.text.startswith("@"):
            return Path(self.text[1:]).read_bytes().decode("utf-8-sig")
        return self.text


def json_of(text: str, expected: object) -> Any:
    """Return the JSON value that a text stands for; raises ValueError where it is no JSON.

    Whether the value is of the type is for `check_json` to say.
    """
    if bare(expected) is str:
        return text
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except ValueError as error:
        return _unquoted(text, expected, error)


def _unquoted(text: str, expected: object, error: ValueError) -> str:
    """Take a text that is not JSON as a string, where the type says that a string may stand here."""
    if expected is not Any and expected is not object:
        try:
            check_json(text, expected)
        except ValueMismatch:
            pass
        else:
            return text
    found = one_line(text, 60)
    if words := _words(expected):
        others = f", or {type_name(expected)}, written as JSON" if alternatives(bare(expected)) else ""
        raise ValueError(f"expected {' or '.join(words)}{others}; found {found!r}")
    raise ValueError(f"expected {type_name(expected)}, written as JSON; {found!r} is no JSON ({error})")


def _words(expected: object) -> list[str]:
    """List the words among which a type gives a choice."""
    kind = bare(expected)
    choices = [one for one in alternatives(kind) or (kind,) if get_origin(one) is Literal]
    return [word for choice in choices for word in get_args(choice) if isinstance(word, str)]


def is_secret(expected: object) -> bool:
    """Tell whether a type takes a secret, and nothing else that is text."""
    kind = bare(expected)
    return {Secret} == {*(alternatives(kind) or (kind,))} - {NoneType}


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def reason_of(error: Exception) -> str:
    """Say why what is given cannot be read, or does not fit."""
    match error:
        case UnicodeDecodeError():
            return "is no UTF-8 text"
        case OSError(strerror=str(reason), filename=filename):
            return f"cannot be read: {reason}: {filename}"
        case _:
            return str(error)


def read_inputs(
    declared: Mapping[str, FlowInput], given: Sequence[str], prompt: str | None = None
) -> dict[str, Any]:
    """Read the inputs of a run; raises Refused, as a usage error, with everything that is wrong."""
    problems: list[str] = []
    taken: dict[str, Given] = {}
    for entry in given:
        name, equals, text = entry.partition("=")
        if not equals or not name:
            problems.append(f"--input {one_line(entry, 60)}: write NAME=VALUE")
        elif name not in declared:
            problems.append(f"--input {name}: there is no such input; {choices(declared)}")
        elif name in taken:
            problems.append(f"--input {name}: given twice")
        else:
            taken[name] = Given(text)
    if prompt is not None:
        _add_prompt(declared, taken, prompt, problems)
    problems += [
        f"input {name!r} is required: give --input {name}=VALUE"
        for name, port in declared.items()
        if port.default is MISSING and name not in taken
    ]
    if sum(one.text == STDIN for one in taken.values()) > 1:
        problems.append("standard input can be read for one input only")
    if not problems:
        values = {name: _value(name, one, declared[name].type, problems) for name, one in taken.items()}
    if problems:
        raise Refused([Problem(problem) for problem in problems], ExitCode.USAGE)
    return values


def _add_prompt(
    declared: Mapping[str, FlowInput], taken: dict[str, Given], prompt: str, problems: list[str]
) -> None:
    required = [name for name, port in declared.items() if port.default is MISSING]
    if PROMPT not in declared and len(required) != 1:
        found = "requires " + listed(required, len(required)) if required else "requires no input"
        told = f"PROMPT is for the input {PROMPT!r} or the only required one; this flow {found}"
        problems.append(f"{told}; use --input ({choices(declared)})" if declared else told)
        return
    name = PROMPT if PROMPT in declared else required[0]
    if name in taken:
        problems.append(f"input {name!r}: given twice, as PROMPT and as --input")
    taken[name] = Given(prompt, may_be_file=False)


def _value(name: str, given: Given, expected: object, problems: list[str]) -> Any:
    try:
        text = given.read()
        if is_secret(expected) and text not in ("", "null"):
            return secret_of(text)
        value = json_of(text, expected)
        return value if expected is str else check_json(value, expected)
    except (ValueError, OSError, ValueMismatch, SecretMissing) as error:
        problems.append(f"input {name!r}: {reason_of(error)}")
        return None


def secret_of(text: str) -> Secret:
    """Return the secret of a name that is set; what is none may be the value, and is not repeated."""
    name = text.strip().removeprefix('"').removesuffix('"')
    if name not in os.environ:
        raise ValueError(
            "a secret is given by its name: expected that of an environment variable that is set; "
            "what was given is none, and is not shown, as it could be the value"
        )
    look_up(name)
    return Secret(name)


def read_age(option: str, text: str, *, unit: str = "") -> timedelta:
    """Read an age, in this unit where it names none; raises Refused, as a usage error."""
    found = _AGE.fullmatch(text.strip())
    try:
        if found is not None and (found[2] or unit):
            return timedelta(**{_UNITS[found[2] or unit]: float(found[1])})
    except OverflowError:
        pass
    problem = f"{option} {text}: write a number and a unit, as in 30d, 12h, 90m or 2w"
    raise Refused([Problem(problem)], ExitCode.USAGE)
