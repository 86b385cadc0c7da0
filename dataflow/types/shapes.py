"""Inspect type annotations: unions, aliases, TypedDict keys, class and arguments, and names for messages."""

from __future__ import annotations

import collections
import inspect
import typing
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, ItemsView, Iterable, Mapping
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    ForwardRef,
    Literal,
    LiteralString,
    NamedTuple,
    NotRequired,
    Required,
    TypeVarTuple,
    Union,
    get_args,
    get_origin,
)

import typing_extensions
from pydantic import BaseModel
from typing_extensions import ReadOnly

from dataflow.base.wording import MOST_CHOICES
from dataflow.types.annotations import resolved_hints

__all__ = [
    "ALIASES",
    "STANDARD_MODULES",
    "Shape",
    "alternatives",
    "arguments_as",
    "bare",
    "behind_alias",
    "filled",
    "flattened",
    "has_own_schema",
    "has_variables",
    "is_alias",
    "is_open_tuple",
    "is_typed_dict",
    "keys_of",
    "protocol_members",
    "shape",
    "type_name",
    "type_names",
    "union_of",
    "unqualified",
]

# typing_extensions defines its own version of types that later Python versions have in typing.
ALIASES = (typing_extensions.TypeAliasType, getattr(typing, "TypeAliasType", typing_extensions.TypeAliasType))
QUALIFIERS: tuple[Any, ...] = (Required, NotRequired, ReadOnly, Final, ClassVar)
UNPACKED = (typing.Unpack, typing_extensions.Unpack)
ITEMS_BY_NATURE = {str: str, bytes: int, bytearray: int, memoryview: int, range: int}
MOST_OPTIONS = 1000
CALLABLE: Any = Callable  # to a type checker a special form, at run time a class
# The arguments of classes in these modules match those of their ABCs; for others the bases are read.
STANDARD_MODULES = frozenset({"builtins", "collections", "collections.abc"})


class Shape(NamedTuple):
    """A class and its type arguments; None means not given, which is read as `Any` for each."""

    origin: type
    args: tuple[object, ...] | None


class Key(NamedTuple):
    """The type of one key of a TypedDict, and whether it is required."""

    hint: object
    required: bool


def unqualified(annotation: object) -> object:
    """Strip qualifiers such as Required and Final, which say nothing about the values."""
    while get_origin(annotation) in QUALIFIERS:
        annotation = get_args(annotation)[0]
    return annotation


def bare(annotation: object) -> object:
    """Strip qualifiers and Annotated; None becomes NoneType, a missing annotation Any."""
    if type(annotation) is type and annotation is not inspect.Parameter.empty:  # as most are
        return annotation
    annotation = unqualified(annotation)
    while get_origin(annotation) is Annotated:
        annotation = unqualified(get_args(annotation)[0])
    if annotation is None:
        return NoneType
    if annotation is inspect.Parameter.empty:
        return Any
    return str if annotation is LiteralString else annotation


def alternatives(annotation: object) -> tuple[object, ...]:
    """Return the members of a union, () for any other type."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else ()


def flattened(annotation: object) -> list[object]:
    """List the members of a union behind aliases, NewTypes and nested unions, each with its Annotated."""
    found: list[object] = []
    waiting = [annotation]
    for _ in range(MOST_OPTIONS):
        if not waiting:
            break
        option = waiting.pop()
        plain = bare(option)
        if isinstance(plain, typing.NewType):
            waiting.append(plain.__supertype__)
        elif is_alias(plain):
            waiting.append(behind_alias(plain))
        elif members := alternatives(plain):
            waiting.extend(reversed(members))
        else:
            found.append(option)
    return found


def union_of(members: Iterable[object]) -> object:
    """Return the union of types; Any if there are none."""
    types = tuple(members)
    return Union[types] if types else Any  # noqa: UP007 - the members are not known here


def is_alias(annotation: object) -> bool:
    """Return whether this is a `type` alias, which may refer to itself."""
    return isinstance(annotation, ALIASES) or isinstance(get_origin(annotation), ALIASES)


def behind_alias(alias: object) -> object:
    """Return the value of an alias, with its parameters substituted."""
    generic: Any = get_origin(alias) or alias
    return filled(generic.__value__, dict(zip(generic.__type_params__, get_args(alias), strict=False)))


def is_typed_dict(annotation: object) -> bool:
    """Return whether this is a TypedDict, parametrised or not."""
    return typing_extensions.is_typeddict(get_origin(annotation) or annotation)


def keys_of(typed_dict: object) -> dict[str, Key]:
    """Return the keys of a TypedDict; none if one of its annotations cannot be resolved."""
    kind: Any = get_origin(typed_dict) or typed_dict
    replaced = dict(zip(getattr(kind, "__parameters__", ()), get_args(typed_dict), strict=False))
    try:
        hints = resolved_hints(kind)
    except NameError:
        return {}
    return {
        name: Key(filled(unqualified(hint), replaced), _is_required(hint, name in kind.__required_keys__))
        for name, hint in hints.items()
    }


def _is_required(hint: object, otherwise: bool) -> bool:
    """Read the qualifiers of a key; `__required_keys__` ignores them where annotations are strings."""
    while (origin := get_origin(hint)) in QUALIFIERS:
        if origin in (Required, NotRequired):
            return origin is Required
        hint = get_args(hint)[0]
    return otherwise


def is_open_tuple(args: tuple[object, ...]) -> bool:
    """Return whether these arguments of a tuple contain an unpacked part of unknown length."""
    return any(
        get_origin(item) in UNPACKED or isinstance(item, TypeVarTuple) or getattr(item, "__unpacked__", False)
        for item in args
    )


def protocol_members(annotation: object) -> frozenset[str] | None:
    """Return the members that a protocol requires; None for any other class."""
    if isinstance(annotation, type) and typing_extensions.is_protocol(annotation):
        return typing_extensions.get_protocol_members(annotation)
    return None


def has_own_schema(kind: type) -> bool:
    """Return whether a class accepts values that are not instances of it, as pydantic's EmailStr does."""
    has_schema = hasattr(kind, "__get_pydantic_core_schema__") and not issubclass(kind, BaseModel)
    if not has_schema or getattr(kind, "takes_only_itself", False):
        return False
    from dataflow.secrets.foreign import is_secret  # few types have a schema of their own

    return not is_secret(kind)


def shape(annotation: object) -> Shape | None:
    """Split a bare annotation into class and arguments; None if it is not based on a class."""
    if is_typed_dict(annotation):
        return Shape(dict, None)
    if isinstance(annotation, type):
        generic = vars(annotation).get("__pydantic_generic_metadata__") or {}
        return Shape(generic["origin"], generic["args"]) if generic.get("origin") else Shape(annotation, None)
    origin: Any = get_origin(annotation)
    if not isinstance(origin, type):
        return None
    # The arguments of callables are not compared, so they count as not given.
    args = None if origin is CALLABLE else getattr(annotation, "__args__", None)
    return Shape(origin, args)


def arguments_as(found: Shape, wanted: type) -> tuple[object, ...] | None:
    """Return the arguments with which a class parametrises its base `wanted`; None if unknown."""
    origin, args = found
    if origin is wanted:
        return args
    if origin in ITEMS_BY_NATURE:
        return (ITEMS_BY_NATURE[origin],)
    if args is None or origin.__module__ not in STANDARD_MODULES:
        return _inherited(found, wanted)
    if origin is tuple:
        return None if is_open_tuple(args) else (union_of(item for item in args if item is not ...),)
    return _standard(origin, args, wanted)


def _standard(origin: type, args: tuple[object, ...], wanted: type) -> tuple[object, ...] | None:
    """Map the arguments of a class of the standard library to those of one of its ABCs."""
    if issubclass(origin, collections.Counter):
        args = (*args, int)
    if issubclass(origin, Mapping):
        return args if issubclass(wanted, Mapping) else args[:1]
    if issubclass(origin, ItemsView):
        return (tuple.__class_getitem__(args),)
    if issubclass(origin, Generator | AsyncGenerator):
        return args[:1]
    return args[-1:] if issubclass(origin, Coroutine) else args


def _inherited(found: Shape, wanted: type) -> tuple[object, ...] | None:
    """Find the arguments of a base in the bases of a class, or the fields of a named tuple."""
    origin, args = found
    replaced = dict(zip(getattr(origin, "__parameters__", ()), args or (), strict=False))
    fields = getattr(origin, "__annotations__", {}) if tuple in origin.__bases__ else {}
    if fields and hasattr(origin, "_fields"):
        hints = resolved_hints(origin)
        return arguments_as(Shape(tuple, tuple(filled(hints[name], replaced) for name in fields)), wanted)
    for base in vars(origin).get("__orig_bases__", origin.__bases__):
        known = shape(filled(base, replaced))
        if known is not None and issubclass(known.origin, wanted):
            return arguments_as(known, wanted)
    return None


def filled(annotation: object, replaced: Mapping[object, object]) -> object:
    """Substitute types for type variables; those without a type are kept."""
    if isinstance(annotation, typing.TypeVar):
        return replaced.get(annotation, annotation)
    parameters = getattr(annotation, "__parameters__", ())
    if not parameters or isinstance(annotation, type):
        return annotation
    generic: Any = annotation
    return generic[tuple(replaced.get(parameter, parameter) for parameter in parameters)]


def has_variables(annotation: object) -> bool:
    """Return whether a type is a type variable, or has some as arguments."""
    if type(annotation) is type:  # as most are
        return False
    return isinstance(annotation, typing.TypeVar) or (
        not isinstance(annotation, type) and bool(getattr(annotation, "__parameters__", ()))
    )


def type_name(annotation: object) -> str:
    """Return the short readable name of a type: `str`, `list[str]`, `str | None`, `Parts`.

    Never raises: a type without a readable name is "an unnamed type".
    """
    try:
        return _name(annotation)
    except Exception:  # noqa: BLE001 - foreign metaclasses may raise anything, and a message is still due
        return "an unnamed type"


def type_names(expected: object, found: object) -> tuple[str, str]:
    """Return the names of two types that do not agree; classes of one name are distinguished.

    Classes of two modules are named with them, and of a class that was defined again that is said.
    """
    names = type_name(expected), type_name(found)
    try:
        twins = _twins(expected, found)
    except Exception:  # noqa: BLE001 - as in type_name
        return names
    if twins is None:
        return names
    wanted, given = (f"{one.__module__}.{one.__qualname__}" for one in twins)
    if wanted == given:
        word = twins[1].__name__
        return names[0], f"{names[1]} (another class {word}: {word} was defined again)"
    return f"{names[0]} ({wanted})", f"{names[1]} ({given})"


def _twins(expected: object, found: object) -> tuple[type, type] | None:
    """Return the first two classes of one name in two types, if they are not the same."""
    known: dict[str, type] = {}
    for one in _classes(expected):
        known.setdefault(one.__name__, one)
    for one in _classes(found):
        other = known.get(one.__name__, one)
        if other is not one and one not in _classes(expected):
            return other, one
    return None


def _classes(annotation: object) -> list[type]:
    """List the classes in a type, outer ones first."""
    todo = [bare(annotation)]
    for one in todo:  # grows while it is walked
        if len(todo) < MOST_OPTIONS:
            todo += map(bare, get_args(one))
    return [one for one in todo if isinstance(one, type)]


def _name(annotation: object) -> str:
    annotation = bare(annotation)
    if annotation is NoneType:
        return "None"
    if annotation is Any:
        return "Any"
    if annotation is ...:
        return "..."
    if isinstance(annotation, list):
        return f"[{_names(annotation)}]"
    if options := alternatives(annotation):
        return " | ".join(_name(option) for option in options)
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        rest = len(args) - MOST_CHOICES
        more = [f"and {rest} more"] if rest > 0 else []
        return f"Literal[{', '.join([*map(_literal, args[:MOST_CHOICES]), *more])}]"
    if origin is None:
        return _plain(annotation)
    return f"{_plain(origin)}[{_names(args)}]" if args else _plain(origin)


def _names(annotations: tuple[object, ...] | list[object]) -> str:
    return ", ".join(_name(annotation) for annotation in annotations)


def _literal(value: object) -> str:
    """Write an enum member as `Color.RED`, anything else as its repr."""
    name = getattr(value, "name", None)
    return f"{type(value).__name__}.{name}" if isinstance(name, str) else repr(value)


def _plain(annotation: object) -> str:
    """Name a type without arguments, leaving out the module or function that defines it."""
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, ForwardRef):
        return annotation.__forward_arg__
    name = getattr(annotation, "__qualname__", None) or getattr(annotation, "__name__", None)
    if isinstance(name, str):
        return name.rpartition("<locals>.")[2]
    return repr(annotation).removeprefix("typing.")
