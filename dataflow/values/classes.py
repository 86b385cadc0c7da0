"""The classes whose instances can be read back: those that the port types of a flow lead to (S12.3)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NewType, TypeVar, get_args, get_origin

from pydantic import BaseModel

from dataflow.base.failure import Failure
from dataflow.core.context import ExecutionContext
from dataflow.core.functions import module_name
from dataflow.core.ports import Signal
from dataflow.core.turns import Image, Message, ToolCall
from dataflow.secrets.secret import Secret
from dataflow.types.shapes import bare, behind_alias, is_alias, is_typed_dict, keys_of
from dataflow.values.fields import field_types, has_fields
from dataflow.values.forms import form_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dataflow.values.forms import Form

__all__ = ["OWN", "Classes", "class_name", "classes_of"]

#: Generic types that grow as they refer to themselves have no end.
MOST_TYPES: Final = 100_000
#: Classes of the engine that are read back whatever the types of the ports are.
OWN: Final = (ExecutionContext, Failure, Image, Message, Secret, Signal, ToolCall)


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes that may be read back, by name, with the form in which each is stored.

    `twice` holds the names that different classes have; none of these is written or read.
    """

    forms: Mapping[str, Form]
    names: Mapping[type, str]
    twice: frozenset[str] = frozenset()


def class_name(kind: type) -> str:
    """Name a class by its package if that names itself, else by its module, as functions are named (S1.2)."""
    return f"{module_name(kind.__module__)}:{kind.__qualname__}"


def classes_of(types: Iterable[object]) -> Classes:
    """Collect the classes that these types lead to: through arguments, options and fields."""
    found = dict.fromkeys([*OWN, *_reached(types)])
    names = {kind: class_name(kind) for kind in found}
    by_name: dict[str, type] = {}
    twice = {name for kind, name in names.items() if by_name.setdefault(name, kind) is not kind}
    forms = {name: form_of(kind) for name, kind in by_name.items() if name not in twice}
    return Classes(MappingProxyType(forms), MappingProxyType(names), frozenset(twice))


def _reached(types: Iterable[object]) -> list[type]:
    """Walk the types with a work list: they may refer to themselves."""
    found: list[type] = []
    seen: set[int] = set()
    kept: list[object] = []  # an id says something as long as what it is of is there
    waiting = list(types)[::-1]
    while waiting:
        annotation = bare(waiting.pop())
        if id(annotation) in seen:
            continue
        seen.add(id(annotation))
        kept.append(annotation)
        if isinstance(annotation, type) and not is_typed_dict(annotation) and has_fields(annotation):
            found.append(annotation)
        if len(seen) < MOST_TYPES:
            waiting += _next(annotation)[::-1]
    return found


def _next(annotation: Any) -> list[object]:
    """List the types that one type is made of."""
    if is_alias(annotation):
        return [behind_alias(annotation)]
    if isinstance(annotation, NewType):
        return [annotation.__supertype__]
    if isinstance(annotation, TypeVar):
        return [annotation.__bound__, *annotation.__constraints__]
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return [type(value) for value in args if isinstance(value, Enum)]
    if is_typed_dict(annotation):
        return [key.hint for key in keys_of(annotation).values()]
    if isinstance(annotation, list):  # the parameters of a Callable
        return list(annotation)
    if isinstance(annotation, type) and origin is None:
        return [*_generic_parts(annotation), *(field_types(annotation) if has_fields(annotation) else ())]
    return [origin, *args]


def _generic_parts(kind: type) -> list[object]:
    """List what a model of pydantic was parametrised with, and the model itself."""
    generic = kind.__pydantic_generic_metadata__ if issubclass(kind, BaseModel) else None
    if not generic or generic["origin"] is None:
        return []
    return [generic["origin"], *generic["args"]]
