"""Parse arguments of commands: entries NAME=VALUE, and values of a type."""

from __future__ import annotations

import json
import os
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
    from collections.abc import Iterable, Mapping, Sequence

    from dataflow.core.wiring import FlowInput

__all__ = [
    "STDIN",
    "Given",
    "is_secret",
    "json_of",
    "read_inputs",
    "read_value",
    "reason_of",
    "split_entry",
]

STDIN: Final = "-"
PROMPT: Final = "prompt"


class Given(NamedTuple):
    """A value on the command line: literal text, @FILE or - for standard input; a prompt is never a file."""

    text: str
    may_be_file: bool = True

    def read(self) -> str:
        """Return the literal text, or the text of the file or of standard input."""
        if self.text == STDIN:
            return read_stdin()
        if self.may_be_file and self.text.startswith("@"):
            return Path(self.text[1:]).read_bytes().decode("utf-8-sig")
        return self.text


def json_of(text: str, expected: object) -> Any:
    """Parse a value of a type, a string or JSON; raises ValueError for invalid JSON.

    The caller validates the value with `check_json`.
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
    """Return a text that is not JSON as a string if the type permits a string; raises ValueError else."""
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
    """List the strings of the literals in a type."""
    kind = bare(expected)
    choices = [one for one in alternatives(kind) or (kind,) if get_origin(one) is Literal]
    return [word for choice in choices for word in get_args(choice) if isinstance(word, str)]


def is_secret(expected: object) -> bool:
    """Return whether a type accepts only a secret, or a secret or null."""
    kind = bare(expected)
    return {Secret} == {*(alternatives(kind) or (kind,))} - {NoneType}


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def reason_of(error: Exception) -> str:
    """Return the reason why a value cannot be read, or does not fit."""
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
    """Parse the inputs of a run; raises Refused, as a usage error, with all problems."""
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
        values = {
            name: read_value(f"input {name!r}", one, declared[name].type, problems)
            for name, one in taken.items()
        }
    if problems:
        raise Refused([Problem(problem) for problem in problems], ExitCode.USAGE)
    return values


def _add_prompt(
    declared: Mapping[str, FlowInput], taken: dict[str, Given], prompt: str, problems: list[str]
) -> None:
    required = [name for name, port in declared.items() if port.default is MISSING]
    if PROMPT not in declared and len(required) != 1:
        found = "requires " + listed(required, len(required)) if required else "requires no input"
        problem = f"PROMPT is for the input {PROMPT!r} or the only required one; this flow {found}"
        problems.append(f"{problem}; use --input ({choices(declared)})" if declared else problem)
        return
    name = PROMPT if PROMPT in declared else required[0]
    if name in taken:
        problems.append(f"input {name!r}: given twice, as PROMPT and as --input")
    taken[name] = Given(prompt, may_be_file=False)


def read_value(label: str, given: Given, expected: object, problems: list[str]) -> Any:
    """Return a value of a type; adds a problem with the label for one that cannot be read or does not fit."""
    try:
        text = given.read()
        if is_secret(expected) and text not in ("", "null"):
            return _secret_of(text)
        value = json_of(text, expected)
        return value if expected is str else check_json(value, expected)
    except (ValueError, OSError, ValueMismatch, SecretMissing) as error:
        problems.append(f"{label}: {reason_of(error)}")
        return None


def split_entry(entry: str, names: Iterable[str]) -> tuple[str, str, str]:
    """Split NAME=VALUE at its first `=`, unless one of the names contains a `=`."""
    for name in names:
        if "=" in name and entry.startswith(f"{name}="):
            return name, "=", entry[len(name) + 1 :]
    return entry.partition("=")


def _secret_of(text: str) -> Secret:
    """Return the secret of a variable that is set; raises ValueError, which does not quote the text."""
    name = text.strip().removeprefix('"').removesuffix('"')
    if name not in os.environ:
        raise ValueError(
            "a secret is given by its name: expected that of an environment variable that is set; "
            "what was given is none, and is not shown, as it could be the value"
        )
    look_up(name)
    return Secret(name)
