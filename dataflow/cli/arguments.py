"""Parse arguments of commands: entries NAME=VALUE, and values of a type."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, NoReturn, get_args, get_origin

from dataflow.base.scalars import finite_number
from dataflow.base.wording import listed
from dataflow.cli.output import ExitCode, Refused, one_line, problems_in, read_stdin
from dataflow.core.ports import MISSING
from dataflow.diagnostics.commands import (
    ENTRY_INVALID,
    GIVEN_TWICE,
    INPUT_REQUIRED,
    JSON_TOO_DEEP,
    NOT_A_CHOICE,
    NOT_JSON,
    NOT_UTF8,
    OPTION_UNKNOWN,
    PROMPT_UNUSABLE,
    SECRET_NOT_SET,
    STDIN_TWICE,
    UNREADABLE,
)
from dataflow.errors import ArgumentInvalid, SecretMissing, ValueMismatch
from dataflow.secrets.secret import Secret, look_up
from dataflow.types.shapes import alternatives, bare, type_name
from dataflow.types.validation import check_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dataflow.core.wiring import FlowInput
    from dataflow.diagnostics.diagnostic import Diagnostic

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
        return json.loads(text, parse_constant=_refuse_constant, parse_float=finite_number)
    except RecursionError:
        raise ArgumentInvalid(JSON_TOO_DEEP()) from None
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
        raise ArgumentInvalid(NOT_A_CHOICE(expected=" or ".join(words) + others, found=repr(found)))
    raise ArgumentInvalid(NOT_JSON(expected=type_name(expected), text=found, reason=error))


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
    raise ValueError(f"{name} is not a JSON number")


def reason_of(error: Exception) -> Diagnostic:
    """Return the reason why a value cannot be read, or does not fit."""
    match error:
        case UnicodeDecodeError():
            return NOT_UTF8()
        case OSError(strerror=str(reason), filename=filename):
            return UNREADABLE(reason=f"{reason}: {filename}")
        case OSError():
            return UNREADABLE(reason=error)
        case _:
            return problems_in(error)[0]


def read_inputs(
    declared: Mapping[str, FlowInput], given: Sequence[str], prompt: str | None = None
) -> dict[str, Any]:
    """Parse the inputs of a run; raises Refused, as a usage error, with all problems."""
    problems: list[Diagnostic] = []
    taken: dict[str, Given] = {}
    for entry in given:
        name, equals, text = entry.partition("=")
        if not equals or not name:
            problems.append(ENTRY_INVALID("--input", expected="NAME=VALUE", found=one_line(entry, 60)))
        elif name not in declared:
            problems.append(OPTION_UNKNOWN("--input", what="input", found=name, available=declared))
        elif name in taken:
            problems.append(GIVEN_TWICE(f"--input {name}"))
        else:
            taken[name] = Given(text)
    if prompt is not None:
        _add_prompt(declared, taken, prompt, problems)
    problems += [
        INPUT_REQUIRED(f"input {name!r}", name=name)
        for name, port in declared.items()
        if port.default is MISSING and name not in taken
    ]
    if sum(one.text == STDIN for one in taken.values()) > 1:
        problems.append(STDIN_TWICE(what="input"))
    if not problems:
        values = {
            name: read_value(f"input {name!r}", one, declared[name].type, problems)
            for name, one in taken.items()
        }
    if problems:
        raise Refused(problems, ExitCode.USAGE)
    return values


def _add_prompt(
    declared: Mapping[str, FlowInput], taken: dict[str, Given], prompt: str, problems: list[Diagnostic]
) -> None:
    required = [name for name, port in declared.items() if port.default is MISSING]
    if PROMPT not in declared and len(required) != 1:
        requires = "requires " + listed(required, len(required)) if required else "requires no input"
        problems.append(PROMPT_UNUSABLE(requires=requires, available=declared))
        return
    name = PROMPT if PROMPT in declared else required[0]
    if name in taken:
        problems.append(GIVEN_TWICE(f"input {name!r}", found="PROMPT and --input"))
    taken[name] = Given(prompt, may_be_file=False)


def read_value(label: str, given: Given, expected: object, problems: list[Diagnostic]) -> Any:
    """Return a value of a type; adds a problem with the label for one that cannot be read or does not fit."""
    try:
        text = given.read()
        if is_secret(expected) and text not in ("", "null"):
            return _secret_of(text)
        value = json_of(text, expected)
        return value if expected is str else check_json(value, expected)
    except (ValueError, OSError, ValueMismatch, SecretMissing) as error:
        problems.append(reason_of(error).within(label))
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
        raise ArgumentInvalid(SECRET_NOT_SET())
    look_up(name)
    return Secret(name)
