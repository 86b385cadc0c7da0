"""What is given on the command line for an input or an ask, and the JSON value that it stands for (S20).

A value is text for the type str, else JSON, checked in strict JSON mode. Where a type takes text among other
things (`str | None`, a date, a choice of words), the quotes may be left out around a text that is not JSON.
`NAME=@FILE` takes the text of a file, `NAME=-` standard input, both read as UTF-8.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal, NamedTuple, NoReturn, get_args, get_origin

from dataflow.cli.streams import read_stdin
from dataflow.cli.texts import one_line
from dataflow.errors import ValueMismatch
from dataflow.secrets.secret import Secret
from dataflow.types.shapes import alternatives, bare, type_name
from dataflow.types.validation import check_json

__all__ = ["STDIN", "Given", "is_secret", "json_of", "reason_of"]

STDIN: Final = "-"


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
