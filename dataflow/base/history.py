"""`History`, a persistent sequence: extending it makes a new one that shares the existing items (S10.1)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Any, ClassVar, Generic, TypeVar, overload

__all__ = ["History", "Part", "new_parts", "shared_length"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Part(Generic[T_co]):
    """Items appended in one step, beginning at the index `start`, and the part they were appended to.

    `copy_of` is the part of another history that these items were copied from.
    """

    items: tuple[T_co, ...]
    start: int = 0
    before: Part[T_co] | None = None
    copy_of: Part[T_co] | None = None

    @property
    def original(self) -> Part[T_co]:
        """The part in which these items were first appended."""
        return self.copy_of or self

    @property
    def end(self) -> int:
        return self.start + len(self.items)

    def backwards(self) -> Iterator[Part[T_co]]:
        part: Part[T_co] | None = self
        while part is not None:
            yield part
            part = part.before


class History(Sequence[T_co]):
    """An immutable sequence, stored as a linked list of parts that each refer to the part before.

    Appending takes time proportional to the appended items and copies nothing, also where two histories
    extend the same one. Read it in order; an index takes time proportional to its distance from the end.
    """

    __slots__ = ("last",)
    __hash__: ClassVar[None]  # type: ignore[assignment]  # its items may have no hash

    def __init__(self, items: Iterable[T_co] | Part[T_co] = ()) -> None:
        self.last: Part[T_co] = items if isinstance(items, Part) else Part(tuple(items))

    def extended(self, items: Iterable[T_co]) -> History[T_co]:
        """Return a history with these items appended."""
        more = tuple(items)
        return History(Part(more, self.last.end, self.last)) if more else self

    def first(self, count: int) -> History[T_co]:
        """Return the history of the first `count` items; it shares its parts where one ends there."""
        for part in self.last.backwards():
            if part.end == count:
                return History(part)
            if part.start < count:
                return History(Part(part.items[: count - part.start], part.start, part.before))
        return History()

    def taken_over(self, parts: Iterable[Part[T_co]]) -> History[T_co]:
        """Return a history with parts of other histories appended; each remembers its original part."""
        last = self.last
        for part in parts:
            if part.items:
                last = Part(part.items, last.end, last, part.original)
        return self if last is self.last else History(last)

    def parts(self) -> list[Part[T_co]]:
        """List the parts, the oldest first."""
        return list(self.last.backwards())[::-1]

    def originals(self) -> set[Part[T_co]]:
        """Return the original parts of all items."""
        return {part.original for part in self.parts()}

    def since(self, count: int) -> tuple[T_co, ...]:
        """Return the items after the first `count`, in time proportional to the items returned."""
        found: list[tuple[T_co, ...]] = []
        for part in self.last.backwards():
            if part.end <= count:
                break
            found.append(part.items[max(count - part.start, 0) :])
        return tuple(chain.from_iterable(reversed(found)))

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
        return History, (tuple(self),)  # following the links would recurse once for each part


def _equal(left: Any, right: Any) -> bool:
    return left is right or bool(left == right)


def new_parts(history: History[T], known: Collection[Part[T]], others: Sequence[History[T]]) -> list[Part[T]]:
    """List the parts of a history whose originals are not in `known`, the originals of the other histories.

    Parts are distinguished by their originals, even where their items are equal. A history that was rebuilt,
    or read from a cache, has no original in common; it shares the longest equal prefix with the others.
    """
    parts = history.parts()
    new = [part for part in parts if part.original not in known]
    if len(new) < len(parts):
        return new
    shared = max((_equal_start(other, history) for other in others), default=0)
    if not shared:
        return new
    rest = history.since(shared)
    return [Part(rest)] if rest else []


def shared_length(one: History[T], other: History[T]) -> int:
    """Return the length of the common prefix of two histories, compared by the originals of their parts.

    Items that were appended to each separately do not count, even if they are equal. Histories without a
    common part, because one was rebuilt or read from a cache, share their longest equal prefix.
    """
    known = other.originals()
    shared = list(takewhile(lambda part: part.original in known, one.parts()))
    return shared[-1].end if shared else _equal_start(one, other)


def _equal_start(one: History[T], other: History[T]) -> int:
    for count, is_same in enumerate(map(_equal, one, other)):
        if not is_same:
            return count
    return min(len(one), len(other))
