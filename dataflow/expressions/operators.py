"""Arithmetic and items in expressions (S16.1).

Nothing is converted that the author did not ask for, and nothing of a value is called that could change it.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from pydantic import BaseModel

from dataflow.expressions.comparing import checked_key
from dataflow.expressions.limits import (
    MOST_BITS,
    Evaluation,
    Refused,
    checked_number,
    described,
    is_number,
    items_of,
    length,
    listed,
    short,
)

__all__ = ["ARITHMETIC", "item_of", "negative", "positive"]

Arithmetic: TypeAlias = Callable[[Evaluation, Any, Any], Any]


def _numbers(sign: str, left: object, right: object) -> tuple[Any, Any]:
    if not (is_number(left) and is_number(right)):
        raise Refused(f"`{sign}` takes two numbers, found {described(left)} and {described(right)}")
    return checked_number(left), checked_number(right)


def _numeric(sign: str, calculate: Callable[[Any, Any], Any]) -> Arithmetic:
    def calculated(_: Evaluation, left: object, right: object) -> Any:
        return checked_number(calculate(*_numbers(sign, left, right)))

    return calculated


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1:
        bits = base.bit_length() * exponent
        if bits > MOST_BITS:
            raise Refused(f"`**` makes too large an integer: at most {MOST_BITS:,} bits")
    return base**exponent


def _plus(evaluation: Evaluation, left: Any, right: Any) -> Any:
    if isinstance(left, str) and isinstance(right, str):
        return evaluation.join((left, right))
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        evaluation.make(length(left) + length(right))
        return [*items_of(left), *items_of(right)]
    if is_number(left) and is_number(right):
        return checked_number(checked_number(left) + checked_number(right))
    raise Refused(
        f"`+` takes two numbers, two texts or two lists, found {described(left)} and {described(right)}"
    )


#: The operators of arithmetic.
ARITHMETIC: Final[Mapping[str, Arithmetic]] = {
    "+": _plus,
    "-": _numeric("-", operator.sub),
    "*": _numeric("*", operator.mul),
    "/": _numeric("/", operator.truediv),
    "//": _numeric("//", operator.floordiv),
    "%": _numeric("%", operator.mod),
    "**": _numeric("**", _power),
}


def negative(_: Evaluation, value: object) -> Any:
    """Apply the sign `-`."""
    return -checked_number(value)


def positive(_: Evaluation, value: object) -> Any:
    """Apply the sign `+`."""
    return +checked_number(value)


# items


def item_of(value: Any, key: Any) -> Any:
    """Return what stands under a key, a field's name or a position; never a method."""
    if isinstance(value, Mapping):
        if checked_key(key) in value:  # asked first: a defaultdict would put in what is missing
            return value[key]
        shown = short(key) if isinstance(key, str) else described(key)
        raise Refused(f"no key {shown}; {listed(value)}")
    if isinstance(key, str):
        return _field_of(value, key)
    if not isinstance(value, Sequence) or not isinstance(key, int) or isinstance(key, bool):
        raise Refused(f"{described(value)} has no item under {described(key)}")
    if not -len(value) <= key < len(value):
        raise Refused(f"no item {key}; there {'is' if len(value) == 1 else 'are'} {len(value) or 'none'}")
    return value[key]


def _field_of(value: Any, name: str) -> Any:
    fields = [field for field in _fields_of(value) if not field.startswith("_")]
    if name not in fields:
        raise Refused(f"{described(value)} has no field {short(name)}; {listed(fields)}")
    return getattr(value, name)


def _fields_of(value: Any) -> Iterable[str]:
    """Name the declared fields of a value: of a NamedTuple, a dataclass or a pydantic model."""
    kind = type(value)
    if isinstance(value, tuple):
        return tuple(getattr(kind, "_fields", ()))
    if isinstance(value, BaseModel):
        return (*kind.model_fields, *(value.model_extra or ()))
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    return ()
