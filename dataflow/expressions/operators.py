"""The operators of expressions (S16.1).

Nothing is converted that the author did not ask for, and nothing of a value is called that could change it.
"""

from __future__ import annotations

import dataclasses
import operator
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, TypeAlias

from pydantic import BaseModel

from dataflow.expressions.bounds import (
    MOST_BITS,
    Evaluation,
    Refused,
    checked_number,
    described,
    is_number,
    listed,
    short,
)

__all__ = ["ARITHMETIC", "COMPARISONS", "item_of", "negative", "positive"]

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
        evaluation.make(len(left) + len(right))
        return [*left, *right]
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


# comparison


def _kind(value: object) -> str | None:
    """Name the kind of a value that is never compared with one of another kind."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, int | float) else None


def _equal(left: object, right: object) -> bool:
    _check_kinds(left, right)
    return _answer(left == right)


def _check_kinds(left: object, right: object) -> None:
    kinds = (_kind(left), _kind(right))
    if None not in kinds and kinds[0] != kinds[1]:
        raise Refused(
            f"cannot compare {described(left)} with {described(right)}; say what is meant with int(), "
            "float() or str()"
        )


def _ordered(sign: str, compare: Callable[[Any, Any], object]) -> Callable[[object, object], bool]:
    def holds(left: object, right: object) -> bool:
        _check_kinds(left, right)
        if isinstance(left, bool):
            raise Refused(f"`{sign}` cannot order booleans")
        return _answer(compare(left, right))

    return holds


def _answer(answer: object) -> bool:
    """Check what the comparison of a class of its own has answered."""
    if not isinstance(answer, bool):
        raise Refused(f"a comparison answered with {described(answer)}; expected a boolean")
    return answer


def _contains(item: Any, container: Any) -> bool:
    if isinstance(container, str):
        if not isinstance(item, str):
            raise Refused(f"`in` looks for a text in a text, found {described(item)}")
        return item in container
    if isinstance(container, list | tuple | deque | Mapping | AbstractSet):
        return item in container
    raise Refused(f"`in` looks into a text, list, set or mapping, found {described(container)}")


#: The comparisons, by the names that jinja2 has for them.
COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "eq": _equal,
    "ne": lambda left, right: not _equal(left, right),
    "lt": _ordered("<", operator.lt),
    "lteq": _ordered("<=", operator.le),
    "gt": _ordered(">", operator.gt),
    "gteq": _ordered(">=", operator.ge),
    "in": _contains,
    "notin": lambda item, container: not _contains(item, container),
}


# items


def item_of(value: Any, key: Any) -> Any:
    """Return what stands under a key, a field's name or a position; never a method."""
    if isinstance(value, Mapping):
        if key in value:  # asked first: a defaultdict would put in what is missing
            return value[key]
        shown = short(key) if isinstance(key, str) else described(key)
        raise Refused(f"no key {shown}; {listed(value)}")
    if isinstance(key, str):
        return _field_of(value, key)
    if not isinstance(value, Sequence) or not isinstance(key, int) or isinstance(key, bool):
        raise Refused(f"{described(value)} has no item {described(key)}")
    if not -len(value) <= key < len(value):
        raise Refused(f"no item {key}, there are {len(value)}")
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
