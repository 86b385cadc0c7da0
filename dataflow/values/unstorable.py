"""What a type already tells of values that cannot be stored (S12.3)."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Iterator, Mapping
from enum import Enum
from types import NoneType
from typing import IO, Any, Final, Literal, NewType, get_origin

from dataflow.base.history import History
from dataflow.core.context import Tools, Variables
from dataflow.types.shapes import (
    alternatives,
    arguments_as,
    bare,
    behind_alias,
    has_own_schema,
    is_alias,
    is_open_tuple,
    is_typed_dict,
    keys_of,
    protocol_members,
    shape,
    type_name,
)
from dataflow.values.classes import OWN
from dataflow.values.fields import field_types, has_fields
from dataflow.values.kinds import BY_TYPE
from dataflow.values.refusing import reason_against

__all__ = ["unstorable"]

#: How deep types are looked into; what lies deeper leaves it open.
MOST_LEVELS: Final = 50
_CALLABLE: Any = Callable  # to a type checker a special form, at run time a class
_STORED: Final = frozenset({*BY_TYPE, *OWN, bool, NoneType, History, Variables, Tools, list, object})


def unstorable(annotation: object) -> str | None:
    """Say why no value of a type can be stored, and what would help; None if the type leaves it open.

    Of a union every option must tell it, of a dataclass or model one field. A type that others are derived
    from leaves it open, and so do protocols and abstract containers.
    """
    return _Look().at(annotation, MOST_LEVELS)


class _Look:
    """The types that one look has met: a type that refers to itself tells nothing new."""

    __slots__ = ("seen",)

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def at(self, annotation: object, levels: int) -> str | None:
        plain = bare(annotation)
        if not levels or plain is Any or id(plain) in self.seen:
            return None
        if is_alias(plain):
            return self.at(behind_alias(plain), levels - 1)
        if isinstance(plain, NewType):
            return self.at(plain.__supertype__, levels - 1)
        if get_origin(plain) is Literal:
            return None
        if options := alternatives(plain):
            told = [self.at(option, levels - 1) for option in options]
            return told[0] if all(told) else None
        return self._at_class(plain, levels - 1)

    def _at_class(self, plain: Any, levels: int) -> str | None:
        if is_typed_dict(plain):
            return self._first((key.hint for key in keys_of(plain).values() if key.required), levels)
        known = shape(plain)
        if known is None:
            return None
        kind = known.origin
        if kind in _STORED:
            return self._at_items(known, levels)
        if has_fields(kind):
            self.seen.add(id(plain))
            told = None if issubclass(kind, Enum) else self._first(field_types(kind), levels)
            self.seen.discard(id(plain))
            return told
        return f"{type_name(plain)}: {reason_against(kind)}" if _tells(kind) else None

    def _at_items(self, known: Any, levels: int) -> str | None:
        """Look at what a container holds."""
        if not known.args:
            return None
        if known.origin is tuple:
            return None if is_open_tuple(known.args) else self._first(known.args, levels)
        if known.origin is dict:
            return self._first(arguments_as(known, Mapping) or (), levels)
        return self._first(arguments_as(known, Iterable) or (), levels)

    def _first(self, annotations: Iterable[object], levels: int) -> str | None:
        told = (self.at(one, levels) for one in annotations if one is not ...)
        return next(filter(None, told), None)


def _tells(kind: type) -> bool:
    """Tell whether a class without a stored form leaves nothing open."""
    if issubclass(kind, type) or kind in (IO, _CALLABLE, Iterator, AsyncIterable):
        return True
    if issubclass(kind, Iterator | Awaitable | AsyncIterable):
        return True
    if kind.__module__ in ("typing", "collections.abc", "abc", "numbers", "contextlib"):
        return kind.__module__ == "typing" and issubclass(kind, IO)
    is_open = protocol_members(kind) is not None or has_own_schema(kind)
    return not is_open and not any(map(_is_stored, _derived(kind)))


def _derived(kind: type) -> Iterator[type]:
    waiting: list[type] = list(type.__subclasses__(kind))
    while waiting:
        one = waiting.pop()
        yield one
        waiting += type.__subclasses__(one)


def _is_stored(kind: type) -> bool:
    return kind in _STORED or has_fields(kind)
