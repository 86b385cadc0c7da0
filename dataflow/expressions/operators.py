"""The operators of expressions: arithmetic, item access and comparison."""

from __future__ import annotations

import dataclasses
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, TypeAlias

from pydantic import BaseModel

from dataflow.diagnostics.expressions import COMPARISON_INVALID, ITEM_MISSING, KINDS_DIFFER
from dataflow.expressions.limits import (
    MOST_BITS,
    Evaluation,
    Refused,
    checked_number,
    described,
    integer_too_large,
    is_number,
    items_of,
    length,
    names_among,
    operand_invalid,
    reading_steps,
    short,
    steps_of_items,
)

__all__ = [
    "ARITHMETIC",
    "COMPARISONS",
    "PAIR",
    "checked_key",
    "contains",
    "is_missing",
    "item_of",
    "negative",
    "positive",
    "slice_of",
]

Arithmetic: TypeAlias = Callable[[Evaluation, Any, Any], Any]
Comparison: TypeAlias = Callable[[Evaluation, Any, Any], bool]
#: Types that are compared item by item.
CONTAINERS: Final = (list, tuple, dict)
#: The steps of entering a container, in addition to its items.
STEP: Final = 100
#: The steps of comparing two values in it, in addition to their content.
PAIR: Final = 10


def _numbers(sign: str, left: object, right: object) -> tuple[Any, Any]:
    if not (is_number(left) and is_number(right)):
        raise operand_invalid(f"`{sign}`", "two numbers", left, right)
    return checked_number(left), checked_number(right)


def _numeric(sign: str, calculate: Callable[[Any, Any], Any]) -> Arithmetic:
    def calculated(_: Evaluation, left: object, right: object) -> Any:
        return checked_number(calculate(*_numbers(sign, left, right)))

    return calculated


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1:
        bits = base.bit_length() * exponent
        if bits > MOST_BITS:
            raise integer_too_large()
    return base**exponent


def _plus(evaluation: Evaluation, left: Any, right: Any) -> Any:
    if isinstance(left, str) and isinstance(right, str):
        return evaluation.join((left, right))
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        evaluation.make(length(left) + length(right))
        return [*items_of(left), *items_of(right)]
    if is_number(left) and is_number(right):
        return checked_number(checked_number(left) + checked_number(right))
    raise operand_invalid("`+`", "two numbers, two strings or two lists", left, right)


#: The arithmetic operators.
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


def item_of(value: Any, key: Any) -> Any:
    """Return the item of a key, a position, or a field's name; never a method."""
    if isinstance(value, Mapping):
        if checked_key(key) in value:  # checked first: a defaultdict would insert a missing key
            return value[key]
        shown = short(key) if isinstance(key, str) else described(key)
        raise _missing("a mapping", f"key {shown}", value)
    if isinstance(key, str):
        return _field_of(value, key)
    if not isinstance(value, Sequence) or not isinstance(key, int) or isinstance(key, bool):
        raise _missing(described(value), f"item under {described(key)}")
    if not -len(value) <= key < len(value):
        kind = "a string" if isinstance(value, str) else "a list"
        raise _missing(f"{kind} of length {len(value)}", f"item {key}")
    return value[key]


def slice_of(evaluation: Evaluation, value: Any, part: slice) -> Any:
    """Return a part of a string or list, as a slice of Python does."""
    if not isinstance(value, str | list | tuple):
        raise operand_invalid("`[:]`", "a string or list", value)
    for bound in (part.start, part.stop, part.step):
        if bound is not None and (not isinstance(bound, int) or isinstance(bound, bool)):
            raise operand_invalid("`[:]`", "integers", bound)
    if part.step == 0:
        raise operand_invalid("`[:]`", "a step other than 0", 0)
    evaluation.make(len(range(*part.indices(length(value)))))
    if isinstance(value, str):
        return str.__getitem__(value, part)
    return list(items_of(value)[part])


def _field_of(value: Any, name: str) -> Any:
    fields = [field for field in _fields_of(value) if not field.startswith("_")]
    if name not in fields:
        raise _missing(described(value), f"field {short(name)}", fields)
    return getattr(value, name)


def _missing(value: str, item: str, keys: Iterable[object] | None = None) -> Refused:
    available = None if keys is None else names_among(keys)
    return Refused(ITEM_MISSING(value=value, item=item, available=available))


def is_missing(refused: Refused) -> bool:
    """Return whether an item was refused because the value does not have it."""
    return refused.problem.code == ITEM_MISSING.code


def _fields_of(value: Any) -> Iterable[str]:
    """Return the names of the declared fields of a NamedTuple, a dataclass or a pydantic model."""
    kind = type(value)
    if isinstance(value, tuple):
        return tuple(getattr(kind, "_fields", ()))
    if isinstance(value, BaseModel):
        return (*kind.model_fields, *(value.model_extra or ()))
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    return ()


def checked_key(value: Any) -> Any:
    """Return a value that can be a key; refuse containers, as looking one up takes unbounded time."""
    if isinstance(value, list | tuple | Mapping | AbstractSet):
        raise operand_invalid("", "a string, a number or another value that can be a key", value)
    return value


def _kind(value: object) -> str | None:
    """Return the kind of a value that can be compared only with the same kind, or None."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, int | float) else None


def _check_kinds(left: object, right: object) -> None:
    kinds = (_kind(left), _kind(right))
    if None not in kinds and kinds[0] != kinds[1]:
        raise Refused(KINDS_DIFFER(left=described(left), right=described(right)))


def _answer(answer: object) -> bool:
    """Check the result of a comparison, which a user's class may define."""
    if not isinstance(answer, bool):
        raise Refused(COMPARISON_INVALID(value=described(answer)))
    return answer


def _equal(evaluation: Evaluation, left: Any, right: Any) -> bool:
    _check_kinds(left, right)
    return _same(evaluation, left, right)


def _same(evaluation: Evaluation, left: Any, right: Any) -> bool:
    """Compare as Python does, including the items of lists and mappings, but count the steps."""
    if not isinstance(left, CONTAINERS):
        evaluation.spend(reading_steps(left, right))
        return _answer(left == right)
    waiting: list[Iterator[tuple[Any, Any]]] = [iter([(left, right)])]
    while waiting:
        pair = next(waiting[-1], None)
        if pair is None:
            waiting.pop()
            continue
        one, other = pair
        if one is other:
            continue
        if _is_flat(one):
            evaluation.spend(
                PAIR + (steps_of_items(one) if isinstance(one, CONTAINERS) else reading_steps(one, other))
            )
            if not _answer(one == other):
                return False
            continue
        evaluation.spend(STEP + steps_of_items(one))
        if not _are_alike(one, other):
            return False
        waiting.append(_pairs(one, other))
    return True


def _is_flat(value: Any) -> bool:
    """Return whether a value contains no containers, so that Python compares it quickly."""
    if not isinstance(value, CONTAINERS):
        return True
    items = value.values() if isinstance(value, dict) else value
    return not any(issubclass(kind, CONTAINERS) for kind in set(map(type, items)))


def _are_alike(left: Any, right: Any) -> bool:
    """Return whether two containers are of the same kind and length, and have the same keys."""
    if not any(isinstance(left, kind) and isinstance(right, kind) for kind in CONTAINERS):
        return False
    return length(left) == length(right) and (not isinstance(left, dict) or all(key in right for key in left))


def _pairs(left: Any, right: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(left, dict):
        return ((item, right[key]) for key, item in left.items())
    return zip(left, right, strict=True)


def _ordered(sign: str, compare: Callable[[Any, Any], object]) -> Comparison:
    def holds(evaluation: Evaluation, left: object, right: object) -> bool:
        _check_kinds(left, right)
        evaluation.spend(reading_steps(left, right))
        if isinstance(left, bool | list | tuple | AbstractSet):
            raise operand_invalid(f"`{sign}`", "numbers, strings, dates and the like", left)
        return _answer(compare(left, right))

    return holds


def contains(evaluation: Evaluation, item: Any, container: Any, operator: str = "`in`") -> bool:
    """Return whether a container has an item, a mapping a key, or a string another string."""
    match container:
        case str():
            if not isinstance(item, str):
                raise operand_invalid(operator, "a string to look for in a string", item)
            evaluation.spend(reading_steps(container))
            return item in container
        case Mapping() | AbstractSet():
            return checked_key(item) in container
        case list() | tuple() | deque():
            if not isinstance(item, CONTAINERS):
                evaluation.spend(
                    len(container) if isinstance(container, deque) else steps_of_items(container)
                )
                return item in container
            return any(_same(evaluation, item, one) for one in container)
        case _:
            raise operand_invalid(operator, "a string, list, set or mapping to look into", container)


#: The comparison operators, by jinja2's names.
COMPARISONS: Final[Mapping[str, Comparison]] = {
    "eq": _equal,
    "ne": lambda evaluation, left, right: not _equal(evaluation, left, right),
    "lt": _ordered("<", operator.lt),
    "lteq": _ordered("<=", operator.le),
    "gt": _ordered(">", operator.gt),
    "gteq": _ordered(">=", operator.ge),
    "in": contains,
    "notin": lambda evaluation, item, container: not contains(evaluation, item, container),
}
