"""Digests: values told apart by type and content, the same in every process (S13.2)."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from dataflow.digest_classes import is_known, register, taking_of
from dataflow.digest_leaves import LEAVES
from dataflow.digest_parts import TAKINGS, Apart, Underivable
from dataflow.type_names import type_name
from dataflow.values.places import MOST_STEPS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NoDigest", "digest", "digester"]

T = TypeVar("T")
F = TypeVar("F", bound="Callable[[Any], object]")

#: Deeper values are refused: something makes them up as they are looked at.
MOST_LEVELS: Final = 1_000_000


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
    except TypeError:  # a class that has no hash
        raise NoDigest("", _name(value)) from None
    return _of_container(value) if leaf is None else leaf(value)


class _Open:
    """A container that is being digested: its parts, and the digests of those done."""

    __slots__ = ("apart", "digests", "value")

    def __init__(self, value: object, apart: Apart) -> None:
        self.value = value
        self.apart = apart
        self.digests: list[bytes] = []


def _of_container(value: object) -> bytes:
    """Digest a container with a work list; what stands in it twice is looked at once."""
    stack: list[_Open] = []
    within = set[int]()  # the containers on the stack, by id
    known: dict[int, tuple[object, bytes]] = {}  # the containers done, by id, with what keeps the id theirs
    try:
        _enter(stack, within, value)
        while True:
            inner = _go_on(stack[-1], known)
            if inner is not None:
                _enter(stack, within, inner[0])
                continue
            done = stack.pop()
            made = done.apart.finish(done.digests)
            if not stack:
                return made
            within.discard(id(done.value))
            known[id(done.value)] = done.value, made
            stack[-1].digests.append(made)
    except _Refused as refused:
        raise NoDigest(_place(stack), _name(refused.value), refused.reason) from refused.__cause__


class _Refused(Exception):
    """Raised for the part that has no digest."""

    def __init__(self, value: object, reason: str) -> None:
        super().__init__(reason)
        self.value = value
        self.reason = reason


def _enter(stack: list[_Open], within: set[int], value: object) -> None:
    """Take a container apart and put it on the stack."""
    if id(value) in within:
        raise _Refused(value, "it is in itself")
    if len(stack) >= MOST_LEVELS:
        raise _Refused(value, f"it is nested deeper than {MOST_LEVELS:,} levels")
    try:
        kind = type(value)
        taking = TAKINGS.get(kind) or taking_of(kind)
        apart = taking(value)
    except Underivable as error:
        raise _Refused(value, str(error)) from error.__cause__
    except TypeError as error:  # a class that has no hash
        raise _Refused(value, "") from error
    within.add(id(value))
    stack.append(_Open(value, apart))


def _go_on(one: _Open, known: dict[int, tuple[object, bytes]]) -> tuple[object] | None:
    """Digest the parts of a container up to the first that is one too; None if there is none any more."""
    digests, parts = one.digests, one.apart.parts
    for number in range(len(digests), len(parts)):
        part = parts[number]
        try:
            leaf = LEAVES.get(type(part))
        except TypeError:  # a class that has no hash
            raise _Refused(part, "") from None
        if leaf is not None:
            digests.append(leaf(part))
        elif id(part) in known:
            digests.append(known[id(part)][1])
        else:
            return (part,)
    return None


def _place(stack: list[_Open]) -> str:
    steps = [one.apart.step(len(one.digests)) for one in stack[:MOST_STEPS]]
    rest = len(stack) - MOST_STEPS
    return "".join(steps) + (f" and {rest:,} more steps" if rest > 0 else "")


def _name(value: object) -> str:
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
        raise TypeError(f"the digester of {type_name(type)} must be a function, found {type_name(function)}")
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"the digester of {type_name(type)} must be a plain function, found an async one")
    register(type, function)
    return function


def _check_type(found: object) -> None:
    if not isinstance(found, type):
        raise TypeError(f"digester takes a class, found {found!r}")
    if is_known(found):
        raise TypeError(f"{type_name(found)} has a digest of its own; register a class derived from it")
