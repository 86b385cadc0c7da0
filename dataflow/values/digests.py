"""Digests: values told apart by type and content, the same in every process (S13.2)."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from dataflow.base.failure import text_of_error
from dataflow.types.shapes import type_name
from dataflow.types.validation import described
from dataflow.values.digest_leaves import LEAVES
from dataflow.values.digest_parts import TAKINGS, Apart, Underivable, is_known, parts_of, register
from dataflow.values.refusals import MOST_STEPS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NoDigest", "digest", "digester", "type_of"]

T = TypeVar("T")
F = TypeVar("F", bound="Callable[[Any], object]")

#: Deeper values are refused: something makes them up as they are looked at.
MOST_LEVELS: Final = 200_000
_LEAF_TYPES: Final = frozenset(LEAVES)


class NoDigest(Exception):
    """Raised for a value that has no digest, with the place and the type of the part that is at fault."""

    def __init__(self, place: str, found: str, reason: str = "") -> None:
        super().__init__(": ".join(filter(None, (place, found, reason))))
        self.place = place
        self.found = found
        self.reason = reason

    def within(self, place: str) -> NoDigest:
        """Return the same, of something that is held at a place."""
        return NoDigest(f"{place}{self.place}", self.found, self.reason)


def digest(value: object) -> bytes:
    """Digest a value: equal for equal values of the same types, in every process of one minor Python version.

    Raises NoDigest. What the value holds is looked at to any depth; nothing of a secret can be read from it.
    """
    try:
        leaf = LEAVES.get(type(value))
    except TypeError:  # its class has no hash
        leaf = None
    return _Walk().of(value) if leaf is None else leaf(value)


class _Open:
    """A container that is being digested: its parts, and the digests of those done."""

    __slots__ = ("apart", "digests", "value")

    def __init__(self, value: object, apart: Apart) -> None:
        self.value = value
        self.apart = apart
        self.digests: list[bytes] = []


class _Walk:
    """Digests one value with a work list.

    looked_at: what was met last
    stack: the containers around it; within: those, and all that were, by id
    known: the containers that are done, by id, each with its digest; they are kept, so that ids stay theirs
    """

    __slots__ = ("known", "looked_at", "stack", "within")

    def __init__(self) -> None:
        self.looked_at: object = None
        self.stack: list[_Open] = []
        self.within: set[int] = set()
        self.known: dict[int, tuple[object, bytes]] = {}

    def of(self, value: object) -> bytes:
        """Digest a container; raises NoDigest."""
        try:
            made = self._enter(value)
            while self.stack:
                if made is not None:
                    self.stack[-1].digests.append(made)
                made = self._go_on(self.stack[-1])
        except Underivable as error:
            raise NoDigest(self._place(), type_of(self.looked_at), str(error)) from error.__cause__
        assert made is not None, "the last container that was left is the value"
        return made

    def _enter(self, value: object) -> bytes | None:
        """Digest a container that holds no other, or put it on the stack."""
        self.looked_at = value
        if id(value) in self.within:
            raise Underivable("it is in itself")
        apart = _taken_apart(value)
        made = _of_leaves(apart)
        if made is None:
            if len(self.stack) >= MOST_LEVELS:
                raise Underivable(f"it is nested deeper than {MOST_LEVELS:,} levels")
            self.within.add(id(value))
            self.stack.append(_Open(value, apart))
        elif self.stack:  # it may stand somewhere else too
            self.known[id(value)] = value, made
        return made

    def _go_on(self, one: _Open) -> bytes | None:
        """Digest the parts of a container up to one that holds containers, or to the end."""
        digests, parts = one.digests, one.apart.parts
        for number in range(len(digests), len(parts)):
            made = self._of_part(parts[number])
            if made is None:
                return None
            digests.append(made)
        self.stack.pop()
        made = one.apart.finish(digests)
        self.known[id(one.value)] = one.value, made
        return made

    def _of_part(self, part: object) -> bytes | None:
        try:
            leaf = LEAVES.get(type(part))
        except TypeError:  # as above
            leaf = None
        if leaf is not None:
            return leaf(part)
        known = self.known.get(id(part))
        return self._enter(part) if known is None else known[1]

    def _place(self) -> str:
        steps = [one.apart.step(len(one.digests)) for one in self.stack[:MOST_STEPS]]
        rest = len(self.stack) - MOST_STEPS
        return "".join(steps) + (f" and {rest:,} more steps" if rest > 0 else "")


def _taken_apart(value: object) -> Apart:
    kind = type(value)
    try:
        taking = TAKINGS.get(kind) or parts_of(kind)
    except TypeError as error:  # a class that has no hash
        raise Underivable("") from error
    try:
        return taking(value)
    except Underivable:
        raise
    except Exception as error:  # of somebody's class
        told = f"{type(error).__name__}: {text_of_error(error)}".removesuffix(": ")
        raise Underivable(f"taking it apart raised {told}") from error


def _of_leaves(apart: Apart) -> bytes | None:
    """Digest what holds no containers, as most containers do not; None for any other."""
    parts = apart.parts
    try:
        if not _LEAF_TYPES.issuperset(map(type, parts)):
            return None
    except TypeError:  # a class that has no hash
        return None
    return apart.finish([LEAVES[type(part)](part) for part in parts])


def type_of(value: object) -> str:
    """Name the type of a value as it can be found."""
    kind = type(value)
    module = getattr(kind, "__module__", "")
    return f"{module}:{kind.__qualname__}"


@overload
def digester(type: type[T], function: Callable[[T], object], /) -> Callable[[T], object]: ...
@overload
def digester(type: type[T], /) -> Callable[[F], F]: ...
def digester(type: Any, function: Any = None, /) -> Any:
    """Register how values of a third-party type, and of those derived from it, are digested (S13.2).

    The function returns anything that has a digest itself and tells all that counts, as
    `(a.dtype.str, a.shape, a.tobytes())` does of an array. Also a decorator: `@digester(np.ndarray)`.
    Raises TypeError for what cannot be registered; a type may be registered again.
    """
    _check_type(type)
    if function is None:
        return lambda found: digester(type, found)
    if not callable(function):
        raise TypeError(f"the digester of {type_name(type)} must be a function, found {described(function)}")
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"the digester of {type_name(type)} must be a plain function, found an async one")
    register(type, function)
    return function


def _check_type(found: object) -> None:
    if not isinstance(found, type):
        raise TypeError(f"digester takes a class, found {found!r}")
    if is_known(found):
        raise TypeError(f"{type_name(found)} has a digest of its own; register a class derived from it")
