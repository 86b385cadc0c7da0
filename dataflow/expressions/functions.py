"""The functions of expressions, and the conversion of values to text (S16.1)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sized
from contextlib import suppress
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final, NamedTuple
from uuid import UUID

from dataflow.base.scalars import plain_number
from dataflow.diagnostics.expressions import TEXT_IMPOSSIBLE
from dataflow.expressions.limits import (
    LONGEST,
    Evaluation,
    Refused,
    checked_number,
    described,
    is_number,
    length,
    operand_invalid,
)

__all__ = ["FUNCTIONS", "text_of"]

#: The maximum number of characters of a string that is read as a number.
MOST_DIGITS: Final = 1_200
#: The maximum number of digits that `round` keeps, before or after the point.
MOST_ROUNDED: Final = 400
#: Types that are converted with `str`.
PLAIN: Final = (date, time, timedelta, Decimal, UUID, PurePath)


def _json_default(value: object) -> object:
    """Convert a value to one that the JSON encoder supports."""
    if isinstance(value, PLAIN):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    number = plain_number(value)
    if number is not None and not isinstance(number, complex):
        return number
    raise Refused(TEXT_IMPOSSIBLE(value=described(value)))


_JSON: Final = json.JSONEncoder(ensure_ascii=False, default=_json_default)


def text_of(evaluation: Evaluation, value: object) -> str:
    """Convert a value to text: lists and mappings to JSON, booleans, None, dates and the like with `str`."""
    if isinstance(value, str):
        return str.__str__(value)  # ignores an overridden `__str__`
    if value is None or isinstance(value, (bool, *PLAIN)):
        text = str(value)
        evaluation.make(len(text))
        return text
    try:
        return _as_json(evaluation, value)
    except ValueError as error:
        if (what := _without_text(error)) is None:
            raise
        raise Refused(TEXT_IMPOSSIBLE(value=what)) from error


def _as_json(evaluation: Evaluation, value: object) -> str:
    pieces: list[str] = []
    size = 0
    for piece in _JSON.iterencode(value):  # in pieces: a list may contain one large list many times
        size += len(piece)
        if size > LONGEST:
            evaluation.make(size)
        pieces.append(piece)
    evaluation.make(size)
    return "".join(pieces)


def _without_text(error: ValueError) -> str | None:
    """Describe the value that the JSON encoder refused; None for an error raised by a user's value."""
    if "Circular reference" in str(error):
        return "a value that contains itself"
    if "Exceeds the limit" in str(error):
        return f"an integer of more than {sys.get_int_max_str_digits():,} digits"
    return None


def _changed(name: str, change: Callable[[str], str]) -> Callable[[Evaluation, Any], str]:
    def changed(evaluation: Evaluation, text: object) -> str:
        if not isinstance(text, str):
            raise operand_invalid(f"{name}()", "a string", text)
        evaluation.make(length(text))
        made = change(str.__str__(text))
        evaluation.make(len(made))  # upper case may be longer
        return made

    return changed


def _length(_: Evaluation, value: object) -> int:
    if isinstance(value, str | list | tuple | dict):
        return length(value)
    if not isinstance(value, Sized):
        raise operand_invalid("len()", "a string, list or mapping", value)
    return len(value)


def _rounded(_: Evaluation, value: object, digits: object = None) -> Any:
    number = checked_number(value)
    if digits is None:
        return checked_number(round(number))
    if not isinstance(digits, int) or isinstance(digits, bool) or abs(digits) > MOST_ROUNDED:
        raise operand_invalid("round()", f"at most {MOST_ROUNDED} digits", digits)
    return checked_number(round(number, digits))


def _read_as(kind: type[int | float]) -> Callable[[Evaluation, Any], Any]:
    def read(_: Evaluation, value: Any) -> Any:
        if isinstance(value, str) and len(value) <= MOST_DIGITS:
            with suppress(ValueError):  # reported below
                return checked_number(kind(value))
        if not is_number(value):
            expected = f"a number, or a string of one with at most {MOST_DIGITS:,} characters"
            raise operand_invalid(f"{kind.__name__}()", expected, value)
        return checked_number(kind(checked_number(value)))

    return read


class Function(NamedTuple):
    """A function of expressions, and its maximum number of arguments."""

    call: Callable[..., Any]
    most: int = 1


#: The functions of expressions; each takes one argument, `round` also the digits to keep.
FUNCTIONS: Final[Mapping[str, Function]] = {
    "len": Function(_length),
    "lower": Function(_changed("lower", str.lower)),
    "upper": Function(_changed("upper", str.upper)),
    "trim": Function(_changed("trim", str.strip)),
    "round": Function(_rounded, 2),
    "int": Function(_read_as(int)),
    "float": Function(_read_as(float)),
    "str": Function(text_of),
}
