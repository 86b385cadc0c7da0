"""A history: a sequence that grows by making new ones, which share what is old (S10.1)."""

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
    """What was appended at once, from the place `start` on, and what it was appended to.

    `copy_of` is the part of another history that it stands for.
    """

    items: tuple[T_co, ...]
    start: int = 0
    before: Part[T_co] | None = None
    copy_of: Part[T_co] | None = None

    @property
    def original(self) -> Part[T_co]:
        """The part that was appended first with these items."""
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

    def taken_over(self, parts: Iterable[Part[T_co]]) -> History[T_co]:
        """Return a history that goes on with the items of parts of others, which stay known as theirs."""
        last = self.last
        for part in parts:
            if part.items:
                last = Part(part.items, last.end, last, part.original)
        return self if last is self.last else History(last)

    def parts(self) -> list[Part[T_co]]:
        """List what was appended at once, each time, the oldest first."""
        return list(self.last.backwards())[::-1]

    def originals(self) -> set[Part[T_co]]:
        """Collect where the items come from."""
        return {part.original for part in self.parts()}

    def since(self, count: int) -> tuple[T_co, ...]:
        """Return what comes behind the first `count` items, at the cost of what is returned."""
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
        return History, (tuple(self),)  # a copy follows no links, which may be many


def _equal(left: Any, right: Any) -> bool:
    return left is right or bool(left == right)


def new_parts(history: History[T], known: Collection[Part[T]], others: Sequence[History[T]]) -> list[Part[T]]:
    """List the parts of a history that do not come from those known, which are the originals of the others.

    Parts are told apart by where they come from, however equal their items are. A history that was made anew,
    or was remembered, shares with the others the equal items that it begins with.
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
    """Count the items, from the start of one history, that the other has too, by where they come from.

    Items that were appended to each are not among them, however equal. Histories that have no part in common,
    since one was made anew or was remembered, share the equal items that they begin with.
    """
    known = other.originals()
    shared = list(takewhile(lambda part: part.original in known, one.parts()))
    return shared[-1].end if shared else _equal_start(one, other)


def _equal_start(one: History[T], other: History[T]) -> int:
    for count, is_same in enumerate(map(_equal, one, other)):
        if not is_same:
            return count
    return min(len(one), len(other))
