"""Decide whether a port of one type may feed a port of another (S1.7): assignability without conversion.

Undecidable types agree: type variables, unresolved names, annotations that are not types.
"""

from __future__ import annotations

from collections.abc import (
    AsyncIterable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Sequence,
)
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum
from types import NoneType
from typing import Any, Final, Literal, Never, NewType, NoReturn, TypeVar, get_args, get_origin

from pydantic import BaseModel

from dataflow.base.scalars import number_type
from dataflow.types.shapes import (
    Shape,
    alternatives,
    arguments_as,
    bare,
    behind_alias,
    has_own_schema,
    has_variables,
    is_alias,
    is_open_tuple,
    is_typed_dict,
    keys_of,
    protocol_members,
    shape,
    type_name,
    union_of,
)

__all__ = [
    "NOT_ITERABLE",
    "agrees",
    "bind_variables",
    "element_type",
    "holds_any",
    "is_any",
    "is_open",
    "type_name",
]


class _NotIterable(Enum):
    NOT_ITERABLE = "not iterable"


NOT_ITERABLE = _NotIterable.NOT_ITERABLE
"""What `element_type` returns for a type whose values a map cannot iterate over."""

# Limits for types that refer to themselves with ever new arguments, and for unions of such types.
MOST_PAIRS = 30
MOST_STEPS = 50_000

# Iterables that a map does not iterate over: strings and models are single values, of a mapping either keys
# or values could be meant, sets have no order (S14.1), iterators can be read only once.
WHOLES = (str, bytes, bytearray, memoryview, BaseModel, Mapping, AbstractSet, Iterator, AsyncIterable)
# Container types whose values are inspected if their items may be anything.
CONTAINERS: Final = (
    *(list, dict, set, frozenset, tuple),
    *(Collection, Sequence, MutableSequence, Mapping, MutableMapping, AbstractSet, MutableSet),
)


@dataclass(slots=True)
class _Walk:
    """The state of one comparison.

    pairs: aliases and TypedDicts being compared, outermost first; a pair that recurs is taken to agree
    steps: the number of pairs of types compared so far
    """

    pairs: list[tuple[object, object]] = field(default_factory=list)
    steps: int = 0


def agrees(source: object, target: object) -> bool:
    """Return whether a port whose values have type `source` may feed a port of type `target`.

    Never raises. A bool is accepted as an int, and both are accepted as a float; a class of numbers of
    another library as the number of Python that they are.
    """
    try:
        return _compare(source, target, _Walk())
    except Exception:  # noqa: BLE001 - foreign metaclasses and lazy annotations may raise anything
        return True


def is_any(annotation: object) -> bool:
    """Return whether a type is Any, annotated or not."""
    try:
        return bare(annotation) is Any
    except Exception:  # noqa: BLE001 - as above
        return False


def holds_any(annotation: object) -> bool:
    """Return whether a type has, at any depth, a container of arbitrary items: values must be inspected."""
    todo = [annotation]
    for one in todo:  # grows while it is walked
        try:
            plain = bare(one)
            is_container = alternatives(plain) != () or (get_origin(plain) or plain) in CONTAINERS
        except Exception:  # noqa: BLE001 - foreign metaclasses may raise anything; such a class is not a container
            return False
        arguments = get_args(plain)
        if is_container and (not arguments or any(map(is_open, arguments))):
            return True
        todo.extend(arguments if is_container else ())
    return False


def is_open(argument: object) -> bool:
    """Return whether a type is Any or a type variable."""
    return is_any(argument) or isinstance(argument, TypeVar)


def element_type(container: object) -> object:
    """Return the item type of a list-like type, `NOT_ITERABLE` if a map cannot iterate over its values.

    Any where that cannot be decided: bare lists, type variables, protocols.
    """
    try:
        return _element(container, MOST_PAIRS)
    except Exception:  # noqa: BLE001 - as above
        return Any


def bind_variables(pattern: object, found: object, bound: dict[object, list[object]]) -> None:
    """Note which types the type variables of a pattern have in a type that feeds it."""
    pattern, plain = bare(pattern), bare(found)
    if isinstance(pattern, TypeVar):
        bound.setdefault(pattern, []).append(found)
        return
    if options := alternatives(pattern):
        rest = [option for option in options if not has_variables(option)]
        left = [
            one for one in alternatives(plain) or (found,) if not any(agrees(one, option) for option in rest)
        ]
        for option in set(options).difference(rest):
            for one in left:
                bind_variables(option, one, bound)
        return
    wanted, given = shape(pattern), shape(plain)
    if wanted is None or given is None or wanted.args is None or not issubclass(given.origin, wanted.origin):
        return
    arguments = arguments_as(given, wanted.origin)
    if arguments is not None and len(arguments) == len(wanted.args):
        for one, other in zip(wanted.args, arguments, strict=True):
            bind_variables(one, other, bound)


def _compare(source: object, target: object, walk: _Walk) -> bool:
    walk.steps += 1
    source, target = bare(source), bare(target)
    if source is target or source is Any or target is Any or target is object or walk.steps > MOST_STEPS:
        return True
    if source is Never or source is NoReturn:
        return True
    if is_alias(source) or is_alias(target):
        return _compare_aliases(source, target, walk)
    if options := _parts(source):
        return all(_compare(option, target, walk) for option in options)
    if options := alternatives(target):
        return any(_compare(source, option, walk) for option in options)
    return _compare_single(source, target, walk)


def _parts(source: object) -> tuple[object, ...]:
    """List the types that must each agree for `source` to agree."""
    values = get_args(source) if get_origin(source) is Literal else ()
    return tuple(Literal[value] for value in values) if len(values) > 1 else alternatives(source)


def _compare_aliases(source: object, target: object, walk: _Walk) -> bool:
    def compare() -> bool:
        one, other = (behind_alias(side) if is_alias(side) else side for side in (source, target))
        return _compare(one, other, walk)

    return _compare_deeper(source, target, walk, compare)


def _compare_deeper(source: object, target: object, walk: _Walk, compare: Callable[[], bool]) -> bool:
    """Compare two types behind their aliases or keys, unless the same pair is being compared already."""
    met = any(one is source and other is target for one, other in walk.pairs)
    if met or len(walk.pairs) >= MOST_PAIRS:
        return True
    walk.pairs.append((source, target))
    result = compare()
    walk.pairs.pop()
    return result


def _compare_single(source: object, target: object, walk: _Walk) -> bool:
    """Compare two types that are neither unions nor aliases."""
    if isinstance(source, NewType):
        return _compare(source.__supertype__, target, walk)
    if get_origin(target) is Literal:
        return _fits_literal(source, target)
    if get_origin(source) is Literal:
        return _compare(type(get_args(source)[0]), target, walk)
    found = shape(source)
    if isinstance(target, NewType) or target is Never or target is NoReturn:
        return found is None
    if found is not None and is_typed_dict(target):
        return _compare_typed_dict(source, found, target, walk)
    wanted = shape(target)
    return found is None or wanted is None or _compare_shapes(found, wanted, walk)


def _fits_literal(source: object, target: object) -> bool:
    values = {(type(value), value) for value in get_args(target)}
    if get_origin(source) is Literal:
        return values.issuperset((type(value), value) for value in get_args(source))
    if source is bool:
        return values.issuperset({(bool, True), (bool, False)})
    if source is NoneType:
        return (NoneType, None) in values
    if isinstance(source, type) and issubclass(source, Enum):
        return values.issuperset((source, member) for member in source)
    return shape(source) is None


def _compare_typed_dict(source: object, found: Shape, target: object, walk: _Walk) -> bool:
    """Compare the keys of two TypedDicts; the keys of any other dict are unknown."""
    if not is_typed_dict(source):
        return issubclass(found.origin, dict)
    given = keys_of(source)

    def compare() -> bool:
        return all(
            given[name].required >= key.required and _compare(given[name].hint, key.hint, walk)
            if name in given
            else not key.required
            for name, key in keys_of(target).items()
        )

    return not given or _compare_deeper(source, target, walk, compare)


def _compare_shapes(found: Shape, wanted: Shape, walk: _Walk) -> bool:
    number = number_type(found.origin) or found.origin
    if wanted.origin is float and issubclass(number, int):
        return True
    if number is not found.origin and issubclass(number, wanted.origin):
        return True
    members = protocol_members(wanted.origin)
    if members is not None:
        return all(_has_member(found.origin, name) for name in members)
    if not issubclass(found.origin, wanted.origin):
        schemas = has_own_schema(found.origin) or has_own_schema(wanted.origin)
        return schemas and found.origin is not object
    if wanted.args is None:
        return True
    given = arguments_as(found, wanted.origin)
    if given is None:
        return True
    if wanted.origin is tuple:
        return _compare_tuples(given, wanted.args, walk)
    return len(given) != len(wanted.args) or _compare_each(given, wanted.args, walk)


def _compare_each(given: Iterable[object], wanted: Iterable[object], walk: _Walk) -> bool:
    return all(_compare(one, other, walk) for one, other in zip(given, wanted, strict=True))


def _compare_tuples(given: tuple[object, ...], wanted: tuple[object, ...], walk: _Walk) -> bool:
    if is_open_tuple(given) or is_open_tuple(wanted):
        return True
    if wanted[1:] == (...,):
        return all(_compare(item, wanted[0], walk) for item in given if item is not ...)
    return ... not in given and len(given) == len(wanted) and _compare_each(given, wanted, walk)


def _has_member(kind: type, name: str) -> bool:
    """Return whether instances of a class have a member, judging by the class alone.

    `hasattr` would also find the members of the metaclass, such as `__call__`.
    """
    for base in kind.__mro__:
        if name in vars(base):
            # A special method that is None is absent, as with `__hash__ = None`.
            return vars(base)[name] is not None or not name.startswith("__")
        code = getattr(vars(base).get("__init__"), "__code__", None)
        if name in getattr(base, "__annotations__", ()) or name in getattr(code, "co_names", ()):
            return True
    return False


def _element(container: object, depth: int) -> object:
    """Return the item type; `depth` limits how many aliases are resolved."""
    container = bare(container)
    if container is Any:
        return Any
    if is_alias(container):
        return _element(behind_alias(container), depth - 1) if depth else Any
    if isinstance(container, NewType):
        return _element(container.__supertype__, depth)
    if options := alternatives(container):
        return _joined([_element(option, depth) for option in options])
    if get_origin(container) is Literal:
        return _joined([_element(type(value), depth) for value in get_args(container)])
    known = shape(container)
    if known is None or protocol_members(known.origin) is not None:
        return Any
    if issubclass(known.origin, WHOLES) or not issubclass(known.origin, Iterable):
        return NOT_ITERABLE
    args = arguments_as(known, Iterable)
    return args[0] if args else Any


def _joined(elements: list[object]) -> object:
    if NOT_ITERABLE in elements:
        return NOT_ITERABLE
    return Any if any(map(is_any, elements)) else union_of(elements)
