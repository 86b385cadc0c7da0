"""Content hashes of values, by type and content, the same in every process (S13.2)."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from dataflow.base.failure import line_of_error
from dataflow.core.signature import qualified_id
from dataflow.diagnostics.values import (
    CONTAINS_ITSELF,
    DIGEST_FIXED,
    DIGESTER_INVALID,
    NESTED_TOO_DEEPLY,
    NO_CONTENT_HASH,
    NOT_TAKEN_APART,
)
from dataflow.errors import ArgumentInvalid
from dataflow.types.shapes import type_name
from dataflow.types.validation import described
from dataflow.values.digest_leaves import LEAVES
from dataflow.values.digest_parts import TAKINGS, Apart, NotDigestible, is_known, parts_of, register, type_of
from dataflow.values.refusals import MOST_STEPS

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = ["NoDigest", "digest", "digester", "type_of"]

T = TypeVar("T")
F = TypeVar("F", bound="Callable[[Any], object]")

#: Deeper values are refused: their parts are generated on access.
MOST_LEVELS: Final = 200_000
_LEAF_TYPES: Final = frozenset(LEAVES)


class NoDigest(Exception):
    """Raised for a value without a content hash; the place of its problem is the part at fault."""

    def __init__(self, place: str, problem: Diagnostic) -> None:
        self.problem = problem.within(place)
        super().__init__(str(self.problem))

    def within(self, place: str) -> NoDigest:
        """Return the same error for the value that contains this one at a location."""
        return NoDigest(place, self.problem)


def digest(value: object) -> bytes:
    """Return the content hash of a value: equal for equal values of the same types.

    It is the same in every process of one minor Python version. All parts are included, at any depth; no
    secret can be read from the hash. Raises NoDigest.
    """
    try:
        leaf = LEAVES.get(type(value))
    except TypeError:  # its class has no hash
        leaf = None
    return _Walk().of(value) if leaf is None else leaf(value)


class _Open:
    """A container that is being hashed: its parts, and the content hashes of the first of them."""

    __slots__ = ("apart", "digests", "value")

    def __init__(self, value: object, apart: Apart) -> None:
        self.value = value
        self.apart = apart
        self.digests: list[bytes] = []


class _Walk:
    """Hashes one value with a work list.

    current: the part that was visited last
    stack: the containers around it; within: the ids of all containers that were ever on the stack
    known: finished containers and their content hashes, by id; kept alive so that ids remain unique
    """

    __slots__ = ("current", "known", "stack", "within")

    def __init__(self) -> None:
        self.current: object = None
        self.stack: list[_Open] = []
        self.within: set[int] = set()
        self.known: dict[int, tuple[object, bytes]] = {}

    def of(self, value: object) -> bytes:
        """Return the content hash of a container; raises NoDigest."""
        try:
            made = self._enter(value)
            while self.stack:
                if made is not None:
                    self.stack[-1].digests.append(made)
                made = self._continue(self.stack[-1])
        except NotDigestible as error:
            raise NoDigest(self._place(), error.problem) from error.__cause__
        assert made is not None, "the last container that was left is the value"
        return made

    def _enter(self, value: object) -> bytes | None:
        """Hash a container without inner containers, or push it onto the stack and return None."""
        self.current = value
        if id(value) in self.within:
            raise NotDigestible(CONTAINS_ITSELF(found=type_of(value), where=""))
        apart = _taken_apart(value)
        made = _of_leaves(apart)
        if made is None:
            if len(self.stack) >= MOST_LEVELS:
                problem = NESTED_TOO_DEEPLY(found=type_of(value), expected=f"at most {MOST_LEVELS:,} levels")
                raise NotDigestible(problem)
            self.within.add(id(value))
            self.stack.append(_Open(value, apart))
        elif self.stack:  # the value may contain it again
            self.known[id(value)] = value, made
        return made

    def _continue(self, one: _Open) -> bytes | None:
        """Hash the remaining parts of a container, up to one with inner containers, or to the end."""
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
        problem = NO_CONTENT_HASH(found=type_of(value), why="its class cannot be hashed", advice="")
        raise NotDigestible(problem) from error
    try:
        return taking(value)
    except NotDigestible:
        raise
    except Exception as error:  # raised by a user's class
        problem = NOT_TAKEN_APART(found=type_of(value), error=line_of_error(error))
        raise NotDigestible(problem) from error


def _of_leaves(apart: Apart) -> bytes | None:
    """Return the content hash of a value without inner containers, the common case; None for others."""
    parts = apart.parts
    try:
        if not _LEAF_TYPES.issuperset(map(type, parts)):
            return None
    except TypeError:  # a class that has no hash
        return None
    return apart.finish([LEAVES[type(part)](part) for part in parts])


@overload
def digester(type: type[T], function: Callable[[T], object], /) -> Callable[[T], object]: ...
@overload
def digester(type: type[T], /) -> Callable[[F], F]: ...
def digester(type: Any, function: Any = None, /) -> Any:
    """Register how values of a third-party type, and of its subclasses, are hashed for the cache key.

    The function returns any value that has a content hash and contains everything that matters, such as
    `(a.dtype.str, a.shape, a.tobytes())` for an array. Also a decorator: `@digester(np.ndarray)`. Raises
    TypeError for a type or function that cannot be registered; a type may be registered again.
    """
    _check_type(type)
    if function is None:
        return lambda found: digester(type, found)
    if not callable(function):
        problem = DIGESTER_INVALID(what="function", expected="a function", found=described(function))
        raise ArgumentInvalid(problem)
    if inspect.iscoroutinefunction(function):
        expected, found_one = "a function that is not async", f"async {qualified_id(function)}"
        raise ArgumentInvalid(DIGESTER_INVALID(what="function", expected=expected, found=found_one))
    register(type, function)
    return function


def _check_type(found: object) -> None:
    if not isinstance(found, type):
        raise ArgumentInvalid(DIGESTER_INVALID(what="type", expected="a class", found=repr(found)))
    if is_known(found):
        raise ArgumentInvalid(DIGEST_FIXED(found=type_name(found)))
