"""The comparisons of expressions (S16.3): numbers, texts and booleans only with their own kind.

Lists and mappings are gone through here, step by step: two that hold one list many times over, or themselves,
have no end for the comparison that Python has.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final, TypeAlias

from dataflow.expressions.limits import (
    Evaluation,
    Refused,
    described,
    length,
    reading_steps,
    steps_of_items,
)

__all__ = ["COMPARISONS", "checked_key"]

Comparison: TypeAlias = Callable[[Evaluation, Any, Any], bool]

#: What is gone through item by item.
CONTAINERS: Final = (list, tuple, dict)
#: What going into a container counts for, besides its items: as much as making so many characters.
STEP: Final = 100
#: What comparing two values in it counts for, besides what is in them.
PAIR: Final = 10


def checked_key(value: Any) -> Any:
    """Return a value that can stand for a key; finding one that is a list has no bound."""
    if isinstance(value, list | tuple | Mapping | AbstractSet):
        raise Refused(f"{described(value)} is no key")
    return value


def _kind(value: object) -> str | None:
    """Name the kind of a value that is never compared with one of another kind."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, int | float) else None


def _check_kinds(left: object, right: object) -> None:
    kinds = (_kind(left), _kind(right))
    if None not in kinds and kinds[0] != kinds[1]:
        raise Refused(
            f"cannot compare {described(left)} with {described(right)}; say what is meant with int(), "
            "float() or str()"
        )


def _answer(answer: object) -> bool:
    """Check what the comparison of a class of its own has answered."""
    if not isinstance(answer, bool):
        raise Refused(f"a comparison answered with {described(answer)}; expected a boolean")
    return answer


def _equal(evaluation: Evaluation, left: Any, right: Any) -> bool:
    _check_kinds(left, right)
    return _same(evaluation, left, right)


def _same(evaluation: Evaluation, left: Any, right: Any) -> bool:
    """Compare as Python does, what is inside lists and mappings too, but in counted steps."""
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
    """Tell whether no container is in a value, so that Python compares it in no time."""
    if not isinstance(value, CONTAINERS):
        return True
    items = value.values() if isinstance(value, dict) else value
    return not any(issubclass(kind, CONTAINERS) for kind in set(map(type, items)))


def _are_alike(left: Any, right: Any) -> bool:
    """Tell whether two containers are of one kind, of one length and have the same keys."""
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
            raise Refused(f"`{sign}` orders numbers, texts, dates and the like, found {described(left)}")
        return _answer(compare(left, right))

    return holds


def _contains(evaluation: Evaluation, item: Any, container: Any) -> bool:
    match container:
        case str():
            if not isinstance(item, str):
                raise Refused(f"`in` looks for a text in a text, found {described(item)}")
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
            raise Refused(f"`in` looks into a text, list, set or mapping, found {described(container)}")


#: The comparisons, by the names that jinja2 has for them.
COMPARISONS: Final[Mapping[str, Comparison]] = {
    "eq": _equal,
    "ne": lambda evaluation, left, right: not _equal(evaluation, left, right),
    "lt": _ordered("<", operator.lt),
    "lteq": _ordered("<=", operator.le),
    "gt": _ordered(">", operator.gt),
    "gteq": _ordered(">=", operator.ge),
    "in": _contains,
    "notin": lambda evaluation, item, container: not _contains(evaluation, item, container),
}
