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
    as_number,
    boolean,
    checked_number,
    described,
    is_number,
    items_of,
    length,
    operand_invalid,
    reading_steps,
)
from dataflow.expressions.operators import COMPARISONS, PAIR, contains

__all__ = ["DEFAULT", "FUNCTIONS", "text_of"]

#: The maximum number of characters of a string that is read as a number.
MOST_DIGITS: Final = 1_200
#: The maximum number of digits that `round` keeps, before or after the point.
MOST_ROUNDED: Final = 400
#: The maximum number of arguments of `min` and `max`.
MOST_ARGUMENTS: Final = 20
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


def _items(name: str, evaluation: Evaluation, value: object) -> list[Any]:
    """Return the items of a list, whose steps are counted."""
    if not isinstance(value, list | tuple):
        raise operand_invalid(f"{name}()", "a list", value)
    evaluation.spend(length(value) * PAIR)
    return [as_number(item) for item in items_of(value)]


def _decided(name: str, decide: Callable[[list[bool]], bool]) -> Callable[[Evaluation, Any], bool]:
    def decided(evaluation: Evaluation, values: object) -> bool:
        return decide([boolean(item) for item in _items(name, evaluation, values)])

    return decided


def _first(name: str, sign: str) -> Callable[..., Any]:
    """Return the function that gives the first of some values, in an order of the comparison operators."""
    is_before = COMPARISONS[sign]

    def first(evaluation: Evaluation, *values: object) -> Any:
        items = list(values) if len(values) > 1 else _items(name, evaluation, values[0])
        if not items:
            raise operand_invalid(f"{name}()", "a list that is not empty", items)
        found = items[0]
        for item in items:  # also the first, so that one that has no order is refused
            if is_before(evaluation, item, found):
                found = item
        return found

    return first


def _sum(evaluation: Evaluation, values: object) -> Any:
    total: Any = 0
    for item in _items("sum", evaluation, values):
        total = checked_number(total + checked_number(item))
    return total


def _has_end(name: str, has: Callable[[str, str], bool]) -> Callable[[Evaluation, Any, Any], bool]:
    def has_end(evaluation: Evaluation, text: object, end: object) -> bool:
        text, end = _strings(name, text, end)
        evaluation.spend(reading_steps(text, end))
        return has(text, end)

    return has_end


def _strings(name: str, *values: object) -> list[str]:
    if not all(isinstance(value, str) for value in values):
        raise operand_invalid(f"{name}()", "strings" if len(values) > 1 else "a string", *values)
    return [str.__str__(value) for value in values]


def _split(evaluation: Evaluation, *values: object) -> list[str]:
    text, *separators = _strings("split", *values)
    separator = separators[0] if separators else None
    evaluation.make(length(text))
    if separator == "":
        raise operand_invalid("split()", "a separator that is not empty", separator)
    return text.split(separator)


def _join(evaluation: Evaluation, values: object, separator: object = "") -> str:
    texts = [text_of(evaluation, item) for item in _items("join", evaluation, values)]
    (between,) = _strings("join", separator)
    evaluation.make(sum(map(len, texts)) + len(between) * len(texts))
    return between.join(texts)


def _contains(evaluation: Evaluation, container: object, item: object) -> bool:
    return contains(evaluation, item, container, "contains()")


class Function(NamedTuple):
    """A function of expressions, and how many arguments it takes."""

    call: Callable[..., Any]
    most: int = 1
    least: int = 1


#: The function that also takes a name or an item that is missing; the parser compiles it.
DEFAULT: Final = "default"


def _default(_: Evaluation, value: object, other: object) -> object:
    return other if value is None else value


#: The functions of expressions.
FUNCTIONS: Final[Mapping[str, Function]] = {
    "len": Function(_length),
    "lower": Function(_changed("lower", str.lower)),
    "upper": Function(_changed("upper", str.upper)),
    "trim": Function(_changed("trim", str.strip)),
    "round": Function(_rounded, 2),
    "int": Function(_read_as(int)),
    "float": Function(_read_as(float)),
    "str": Function(text_of),
    "any": Function(_decided("any", any)),
    "all": Function(_decided("all", all)),
    "min": Function(_first("min", "lt"), MOST_ARGUMENTS),
    "max": Function(_first("max", "gt"), MOST_ARGUMENTS),
    "sum": Function(_sum),
    "contains": Function(_contains, 2, 2),
    "startswith": Function(_has_end("startswith", str.startswith), 2, 2),
    "endswith": Function(_has_end("endswith", str.endswith), 2, 2),
    "split": Function(_split, 2),
    "join": Function(_join, 2),
    DEFAULT: Function(_default, 2, 2),
}
