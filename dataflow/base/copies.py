"""Give a reader its own copy of a value (S3.4)."""

from __future__ import annotations

import copy
import operator
from types import BuiltinFunctionType, EllipsisType, FunctionType, NoneType, NotImplementedType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["ATOMIC", "own_copies", "own_copy"]

ATOMIC: frozenset[type] = frozenset(
    {
        NoneType,
        bool,
        int,
        float,
        complex,
        str,
        bytes,
        range,
        frozenset,
        type,
        FunctionType,
        BuiltinFunctionType,
        EllipsisType,
        NotImplementedType,
    }
)
"""Types whose values are immutable and contain nothing that is copied."""

# Hashable values are shared, so the items of sets and the keys of dicts are not inspected.
CONTAINERS = (list, dict, set, bytearray)
COPIED = (*CONTAINERS, tuple)


def own_copy(value: object) -> object:
    """Copy the lists, dicts, sets and bytearrays in a value, at any depth; everything else is shared.

    Containers inside tuples are copied, inside other objects they are not. A value without any is returned
    itself. Shared and cyclic references are preserved in the copy.
    """
    kind = type(value)
    try:
        if kind in ATOMIC:
            return value
    except TypeError:  # the class has no hash, so it is not one of these
        return value
    if not issubclass(kind, COPIED):
        return value
    copies = _Copies()
    result = copies.of(value)
    copies.fill()
    return result


def own_copies(values: Sequence[Any]) -> Sequence[Any]:
    """Return `own_copy` of each value; the sequence itself if none can contain a container."""
    return values if _all_atomic(values) else [own_copy(value) for value in values]


class _Copies:
    """The copies made for one value: containers are copied shallowly first, their items are replaced later.

    made: the copy of each container and tuple met so far, by its id; the value keeps all of them alive
    unfilled: lists and dicts whose copies still contain the items of the original
    """

    __slots__ = ("made", "unfilled")

    def __init__(self) -> None:
        self.made: dict[int, object] = {}
        self.unfilled: list[tuple[Any, Any]] = []

    def of(self, item: Any) -> object:
        """Return the copy of an item, or the item itself if it contains no container."""
        kind = type(item)
        if _is_atomic(kind):
            return item
        if id(item) in self.made:
            return self.made[id(item)]
        if issubclass(kind, CONTAINERS):
            return self._of_container(item)
        return self._of_tuple(item) if issubclass(kind, tuple) else item

    def fill(self) -> None:
        """Replace the original items of copied containers, until no further copies are made."""
        while self.unfilled:
            original, made = self.unfilled.pop()
            if isinstance(original, dict):
                for key, item in dict.items(original):
                    dict.__setitem__(made, key, self.of(item))
            else:
                list.__setitem__(made, slice(None), [self.of(item) for item in _items(original)])

    def _of_container(self, item: Any) -> object:
        kind = type(item)
        made = item.copy() if kind in CONTAINERS else _copied(item)
        self.made[id(item)] = made
        # An object that returns itself as its copy is immutable, and must not be changed here.
        if made is not item and issubclass(kind, list | dict) and not _all_atomic(_items(item)):
            self.unfilled.append((item, made))
        return made

    def _of_tuple(self, outermost: tuple[object, ...]) -> object:
        """Rebuild a tuple if it contains a container, inner tuples first; the work list avoids recursion."""
        waiting = [outermost]
        while waiting:
            current = waiting[-1]
            if id(current) in self.made:
                waiting.pop()
            elif inner := self._tuples_ahead_of(current):
                waiting.extend(inner)
            else:
                self.made[id(current)] = self._rebuilt(current)
        return self.made[id(outermost)]

    def _tuples_ahead_of(self, outer: tuple[object, ...]) -> list[Any]:
        return [item for item in _items(outer) if issubclass(type(item), tuple) and id(item) not in self.made]

    def _rebuilt(self, original: tuple[object, ...]) -> object:
        items = list(map(self.of, _items(original)))
        if all(map(operator.is_, items, _items(original))):
            return original
        made = tuple.__new__(type(original), items)
        attributes = getattr(original, "__dict__", None)
        if attributes:
            vars(made).update(attributes)
        return made


def _items(value: Any) -> Iterable[object]:
    """Iterate over the items of a container, ignoring an overridden `__iter__`."""
    kind = type(value)
    if issubclass(kind, tuple):
        return tuple.__iter__(value)
    return dict.values(value) if issubclass(kind, dict) else list.__iter__(value)


def _is_atomic(kind: type) -> bool:
    try:
        return kind in ATOMIC
    except TypeError:  # as above
        return False


def _all_atomic(items: Iterable[object]) -> bool:
    try:
        return ATOMIC.issuperset(map(type, items))
    except TypeError:  # as above
        return False


def _copied(item: Any) -> Any:
    """Copy a container of a derived class; one that cannot be copied is shared like any other object."""
    try:
        return copy.copy(item)
    except Exception:  # noqa: BLE001 - __copy__ is the user's code
        return item
