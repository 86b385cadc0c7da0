"""A history: a sequence that grows by making new ones, which share what is old (S10.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import is_
from typing import Any, ClassVar, Generic, TypeVar, overload

__all__ = ["History", "Part", "shared_length"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Part(Generic[T_co]):
    """What was appended at once, from the place `start` on, and what it was appended to."""

    items: tuple[T_co, ...]
    start: int = 0
    before: Part[T_co] | None = None

    @property
    def end(self) -> int:
        return self.start + len(self.items)

    def backwards(self) -> Iterator[Part[T_co]]:
        part: Part[T_co] | None = self
        while part is not None:
            yield part
            part = part.before


class History(Sequence[T_co]):
    """An immutable sequence, linked backwards: what is appended knows what it was appended to.

    Appending costs what is appended, and nothing is copied, also where two histories go on from one. Read
    it in order; an index costs its distance from the end.
    """

    __slots__ = ("last",)
    __hash__: ClassVar[None]  # type: ignore[assignment]  # what it holds may have no hash

    def __init__(self, items: Iterable[T_co] | Part[T_co] = ()) -> None:
        self.last: Part[T_co] = items if isinstance(items, Part) else Part(tuple(items))

    def extended(self, items: Iterable[T_co]) -> History[T_co]:
        """Return a history that goes on with these items."""
        more = tuple(items)
        return History(Part(more, self.last.end, self.last)) if more else self

    def first(self, count: int) -> History[T_co]:
        """Return the history of the first `count` items, the same that it was if it had so many once."""
        for part in self.last.backwards():
            if part.end == count:
                return History(part)
            if part.start < count:
                return History(Part(part.items[: count - part.start], part.start, part.before))
        return History()

    def __len__(self) -> int:
        return self.last.end

    def __iter__(self) -> Iterator[T_co]:
        parts = [part.items for part in self.last.backwards()]
        return chain.from_iterable(reversed(parts))

    def __reversed__(self) -> Iterator[T_co]:
        return chain.from_iterable(reversed(part.items) for part in self.last.backwards())

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T_co, ...]: ...
    def __getitem__(self, index: int | slice) -> T_co | tuple[T_co, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        place = range(len(self))[index]
        part = next(part for part in self.last.backwards() if part.start <= place)
        return part.items[place - part.start]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, History | tuple | list):
            return NotImplemented
        return self is other or (len(self) == len(other) and all(map(_equal, self, other)))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return History, (tuple(self),)  # a copy follows no links, which may be many


def _equal(left: Any, right: Any) -> bool:
    return left is right or bool(left == right)


def shared_length(one: History[T], other: History[T]) -> int:
    """Count the items that two histories both begin with since both go on from the same history.

    Items that were appended to each are not among them, however equal. Histories that were made anew share
    what they begin with of the same objects.
    """
    left: Part[T] | None = one.last
    right: Part[T] | None = other.last
    while left is not right:
        if left is None or right is None:
            return _same_objects(one, other)
        if left.end >= right.end:
            left = left.before
        else:
            right = right.before
    return 0 if left is None else left.end


def _same_objects(one: History[T], other: History[T]) -> int:
    for count, is_same in enumerate(map(is_, one, other)):
        if not is_same:
            return count
    return min(len(one), len(other))
