"""Constants that code reads, and what other values consist of."""

from __future__ import annotations

import dataclasses
from collections import Counter, OrderedDict, defaultdict, deque
from enum import Enum
from functools import cached_property, lru_cache, partial, partialmethod
from itertools import chain
from operator import attrgetter, itemgetter, methodcaller
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MappingProxyType,
    MethodDescriptorType,
    MethodType,
    NoneType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

from pydantic import BaseModel

from dataflow.values.codecs import kind_of
from dataflow.values.digest_leaves import LEAVES, Digested
from dataflow.values.forms import slots_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ABSENT",
    "FUNCTIONS",
    "PLAIN",
    "Constant",
    "constant_of",
    "content_of",
    "is_function",
    "is_plain",
    "parts_of_value",
]

#: Replaces a missing value: of an unbound variable, or of an attribute that an object does not have.
ABSENT: Final = Digested(b"-")
#: The types of values that are searched for code.
FUNCTIONS: Final = (
    FunctionType, MethodType, partial, type, staticmethod, classmethod, property, BuiltinFunctionType,
    MethodDescriptorType, WrapperDescriptorType, type(lru_cache(len)), cached_property, partialmethod,
)  # fmt: skip
#: The types of values without parts that cannot change.
PLAIN: Final = frozenset({NoneType, bool, int, float, complex, str, bytes})
#: Other types of constants without parts.
_FIXED: Final = frozenset({*LEAVES, itemgetter, attrgetter, methodcaller})
#: The types of constants with items, besides named tuples, frozen dataclasses and frozen models.
_ITEMS: Final = frozenset({list, tuple, set, frozenset, deque})
_PAIRS: Final = frozenset({dict, MappingProxyType, OrderedDict, defaultdict, Counter})
#: The maximum number of parts of a constant: hashing is to take no longer than about 50 ms.
MOST_PARTS: Final = 10_000
#: The maximum number of cached constants; the oldest are dropped.
MOST_CONSTANTS: Final = 10_000


class Constant:
    """A constant, and its content hash once it is known."""

    __slots__ = ("digest", "value")

    def __init__(self, value: object) -> None:
        self.value = value
        self.digest: bytes | None = None


_constants: Final[dict[int, Constant]] = {}  # keeps their values alive, and their ids


def constant_of(value: object) -> Constant | None:
    """Return a constant with the content hash that it had when it was first hashed in this process.

    Code may read a list or dict of a module as a table or keep state in it, so changes in place do not count.
    None for an object that is not made of plain values, or has more than `MOST_PARTS` parts.
    """
    known = _constants.get(id(value))
    if known is not None and known.value is value:
        return known
    if not _is_constant(value):
        return None
    while len(_constants) >= MOST_CONSTANTS:
        _constants.pop(next(iter(_constants)), None)
    made = _constants[id(value)] = Constant(value)
    return made


def is_function(value: object) -> bool:
    """Return whether a value is searched for code, by its real type, ignoring a faked `__class__`."""
    return issubclass(type(value), FUNCTIONS)


def is_plain(value: object) -> bool:
    """Return whether a value is immutable: a number, string, bytes, enum member, or a tuple of these."""
    todo, seen = [value], set[int]()
    for one in todo:  # grows while it is walked
        kind = type(one)
        if kind in PLAIN or issubclass(kind, Enum) or id(one) in seen:
            continue
        if kind is not tuple and kind is not frozenset:
            return False
        seen.add(id(one))
        todo += one  # type: ignore[arg-type]  # as just checked
    return True


def _is_constant(value: object) -> bool:
    todo, seen = list[Any]([value]), set[int]()
    for one in todo:  # grows while it is walked
        kind: Any = type(one)
        if issubclass(kind, (*PLAIN, Enum)) or kind in _FIXED or id(one) in seen:
            continue
        seen.add(id(one))
        if kind in _ITEMS or kind in _PAIRS:
            if len(one) + len(todo) > MOST_PARTS:
                return False
            todo += _items_of(one)
        elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
            todo += one
        elif issubclass(kind, BaseModel) and kind.model_config.get("frozen"):
            todo += vars(one).values()
        elif (params := getattr(kind, "__dataclass_params__", None)) is not None and params.frozen:
            todo += [getattr(one, field.name) for field in dataclasses.fields(kind)]
        elif kind_of(kind) is None:
            return False
    return True


def _items_of(value: Any) -> Iterable[Any]:
    return chain(value.keys(), value.values()) if type(value) in _PAIRS else value


def parts_of_value(value: Any, *, is_searched: bool) -> Iterable[Any]:
    """List what a value consists of: items, arguments of a type, what is around a function, attributes.

    Of an object that is not searched, which may be a client of a library, only functions and types.
    """
    kind = type(value)
    if kind in PLAIN:
        return ()
    if kind in _ITEMS or kind in _PAIRS or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
        is_searched = (
            len(value) <= MOST_PARTS and not set(map(type, items := list(_items_of(value)))) <= PLAIN
        )
        return items if is_searched else ()
    if issubclass(kind, Enum):
        return (value._value_,)
    if kind is MethodType:
        return (value.__func__, value.__self__)
    if kind is partial:
        return (value.func, *value.args, *value.keywords.values())
    if kind is FunctionType:  # of a library
        return map(content_of, value.__closure__ or ())
    if kind.__module__ in ("types", "typing") and get_origin(value) is not None:
        return (get_origin(value), *get_args(value))
    held = _attributes_of(value)
    if is_searched or dataclasses.is_dataclass(kind):
        return held
    return [part for part in held if is_function(part) or type(part).__module__ == "typing"]


def _attributes_of(value: object) -> list[Any]:
    """List the attributes of an object without running code of its class."""
    names = sorted(slots_of(type(value)))
    slots = [held for name in names if (held := _read(value, name)) is not ABSENT]
    wrapped = _read(value, "__wrapped__")  # computed, as that of a node type
    return [wrapped, *slots, *getattr(_read(value, "__dict__"), "values", tuple)()]


def _read(value: object, name: str) -> Any:
    try:
        return object.__getattribute__(value, name)
    except AttributeError:
        return ABSENT


def content_of(cell: CellType) -> object:
    """Return what a variable of a closure has."""
    try:
        return cell.cell_contents
    except ValueError:  # the variable is unbound
        return ABSENT
