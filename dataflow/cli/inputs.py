"""The inputs of a run as the command line gives them: `--input NAME=VALUE` and PROMPT (S20).

A value is text for an input of type str, else JSON, checked in strict JSON mode. Where an input takes text
among other things (`str | None`, a date, a choice of words), the quotes may be left out around a text that
is not JSON. `NAME=@FILE` takes the text of a file, `NAME=-` standard input, both read as UTF-8.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from dataflow.checking import check_json
from dataflow.cli.exits import ExitCode, Problem, Refused
from dataflow.cli.streams import read_stdin
from dataflow.cli.texts import one_line
from dataflow.errors import ValueMismatch
from dataflow.ports import MISSING
from dataflow.type_names import type_name
from dataflow.type_shapes import bare
from dataflow.wording import choices

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.wiring import FlowInput

__all__ = ["read_inputs"]

STDIN: Final = "-"
PROMPT: Final = "prompt"


class Given(NamedTuple):
    """What stands on the command line for an input; a prompt names no file, whatever it begins with."""

    text: str
    may_be_file: bool = True


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
        problems.append(
            f"PROMPT is for the input {PROMPT!r} or the only required one; this flow has "
            f"{len(required)} required inputs; use --input ({choices(declared)})"
        )
        return
    name = PROMPT if PROMPT in declared else required[0]
    if name in taken:
        problems.append(f"input {name!r}: given twice, as PROMPT and as --input")
    taken[name] = Given(prompt, may_be_file=False)


def _value(name: str, given: Given, expected: object, problems: list[str]) -> Any:
    try:
        return _typed(_text(given), expected)
    except (UnicodeDecodeError, ValueError, OSError, ValueMismatch) as error:
        problems.append(f"input {name!r}: {_reason(error)}")
        return None


def _text(given: Given) -> str:
    """Return the text itself, or that of the file or of standard input that it stands for."""
    if given.text == STDIN:
        return read_stdin()
    if given.may_be_file and given.text.startswith("@"):
        return Path(given.text[1:]).read_bytes().decode("utf-8-sig")
    return given.text


def _typed(text: str, expected: object) -> Any:
    """Make a value of a text; raises ValueMismatch, or ValueError where it is no JSON."""
    if bare(expected) is str:
        return text if expected is str else check_json(text, expected)
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except ValueError as error:
        return _unquoted(text, expected, error)
    return check_json(value, expected)


def _unquoted(text: str, expected: object, error: ValueError) -> Any:
    """Take a text that is not JSON as a string, where the type says that a string may stand here."""
    if expected is not Any and expected is not object:
        try:
            return check_json(text, expected)
        except ValueMismatch:
            pass
    found = one_line(text, 60)
    raise ValueError(f"expected {type_name(expected)}, written as JSON; {found!r} is no JSON ({error})")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _reason(error: Exception) -> str:
    match error:
        case UnicodeDecodeError():
            return "is no UTF-8 text"
        case OSError(strerror=str(reason), filename=filename):
            return f"cannot be read: {reason}: {filename}"
        case _:
            return str(error)
