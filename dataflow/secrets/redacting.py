"""Redacting values: copies with marks in place of secrets, of those parts alone that have one (S12.4)."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from enum import Enum
from pathlib import PurePath
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Final
from weakref import WeakSet

from dataflow.base.history import History, Part
from dataflow.secrets.insides import (
    BUFFERS,
    CONTAINERS,
    GUARDED,
    PATHS,
    base_of,
    blank,
    bytes_of,
    has_end,
    inside_of,
    lineage_of,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataflow.secrets.redaction import Secrets

__all__ = ["Redaction"]

#: How deep what has a secret is copied; what lies deeper in it is left out, since it may hold another.
MOST_LEVELS: Final = 200
TOO_DEEP: Final = "[nested too deep]"

#: The classes of much of what there is, by id: they say nothing, and hold nothing.
SILENT: Final = frozenset(
    id(kind) for kind in (NoneType, bool, int, float, complex, date, datetime, time, timedelta, timezone)
)


class _Clean:
    """The parts of histories that were looked through before: long conversations are told often."""

    secrets: ClassVar[Secrets | None] = None
    parts: ClassVar[WeakSet[Part[Any]]] = WeakSet()

    @classmethod
    def of(cls, secrets: Secrets) -> WeakSet[Part[Any]]:
        """Return those that have none of these secrets."""
        if cls.secrets is not secrets:
            cls.secrets, cls.parts = secrets, WeakSet()
        return cls.parts


class Redaction:
    """What is known of the parts of one value, by id: the value, or `_looked_at`, holds all of them."""

    __slots__ = ("_clean_parts", "_looked_at", "_made", "_with_secret", "secrets")

    def __init__(self, secrets: Secrets) -> None:
        self.secrets = secrets
        self._looked_at: dict[int, Any] = {}  # what has no secret
        self._with_secret: set[int] = set()
        self._made: dict[int, Any] = {}  # the copies
        self._clean_parts = _Clean.of(secrets)

    def of(self, value: Any, levels: int = MOST_LEVELS) -> Any:
        """Return the value if it has no secret, else a copy with marks; what has none in it is shared.

        What cannot be looked into may have one, and is told as text, as is what cannot be copied.
        """
        if type(value) is str:
            return self.secrets.without(value) if self.secrets.in_text.search(value) else value
        if id(value) in self._made:
            return self._made[id(value)]
        has_secret, made = True, None
        with GUARDED:
            has_secret = self._has_secret(value)
        if not has_secret:
            return value
        if not levels:
            return TOO_DEEP
        with GUARDED:
            made = self._way(type(value))(value, levels - 1)
        made = self._made[id(value)] = self._text(value) if made is None else made
        return made

    def _has_secret(self, value: Any) -> bool:
        """Look through a value and all that it holds; what is around a secret that is found has it too."""
        looked_at: dict[int, tuple[Any, int]] = {}  # with the id of what it was found in
        todo = [(value, 0)]
        while todo:
            one, around = todo.pop()
            place, kind = id(one), type(one)
            if id(kind) in SILENT:
                continue
            if place in self._with_secret or self._says_secret(one):
                while around:
                    self._with_secret.add(around)
                    around = looked_at[around][1]
                return True
            if kind is str or place in looked_at or place in self._looked_at:
                continue
            inside = inside_of(kind)
            if inside.is_closed or (kind is Part and one in self._clean_parts):
                continue
            looked_at[place] = one, around
            todo.extend((part, place) for part in inside.parts(one))
        self._looked_at |= {place: one for place, (one, _) in looked_at.items()}
        self._clean_parts.update(one for one, _ in looked_at.values() if type(one) is Part)
        return False

    def _says_secret(self, one: Any) -> bool:
        kind = type(one)
        if issubclass(kind, str):
            return self.secrets.in_text.search(one) is not None
        return issubclass(kind, BUFFERS) and self.secrets.in_bytes.search(bytes_of(one)) is not None

    def _way(self, kind: type) -> Callable[[Any, int], Any]:
        """Return how what has a secret is copied; what is derived from a built-in class becomes plain."""
        if issubclass(kind, (str, PurePath, *BUFFERS)):
            return self._leaf
        if issubclass(kind, Enum):  # there is one of each member
            return self._text
        if issubclass(kind, tuple):
            return self._tuple
        return self._container if issubclass(kind, CONTAINERS) else self._object

    def _text(self, value: Any, _: int = 0) -> str:
        return self.secrets.without(text_of(value))

    def _leaf(self, value: Any, _: int) -> Any:
        """Copy text, bytes or a path, as one of the built-in class that it is, or is derived from."""
        kind = type(value)
        if issubclass(kind, str):
            return self.secrets.without(str.__str__(value))
        if issubclass(kind, PurePath):
            return base_of(kind, PATHS)(self.secrets.without(PurePath.__str__(value)))
        return base_of(kind, BUFFERS)(self.secrets.bytes_without(bytes_of(value)))

    def _container(self, value: Any, levels: int) -> Any:
        kind = type(value)
        if issubclass(kind, dict):
            mapping = self._made[id(value)] = {}
            for key, item in [*dict.items(value)]:  # another thread may change it meanwhile
                mapping[self.of(key, levels)] = self.of(item, levels)
            return mapping
        if issubclass(kind, list):
            items = self._made[id(value)] = []
            items.extend(self.of(item, levels) for item in [*list.__iter__(value)])
            return items
        plain = set if issubclass(kind, set) else frozenset
        return plain(self.of(item, levels) for item in [*plain.__iter__(value)])

    def _tuple(self, value: Any, levels: int) -> Any:
        """Copy a tuple, a named one with its names; one of a class that makes no copies becomes plain."""
        kind = type(value)
        items = [self.of(item, levels) for item in tuple.__iter__(value)]
        if kind is tuple or has_end(kind):
            return tuple(items)
        with GUARDED:
            made = self._made[id(value)] = tuple.__new__(kind, items)
            self._put_fields(value, made, levels)
            return made
        return tuple(items)

    def _object(self, value: Any, levels: int) -> Any:
        """Copy an object field by field, without calling anything of its own; else tell it as text."""
        kind = type(value)
        # The parts of a history are linked, as deep as they are many.
        if any(base is History for base in lineage_of(kind)):
            return History([self.of(item, levels) for item in History.__iter__(value)])
        made = blank(kind)
        if made is None:
            return self._text(value)
        self._made[id(value)] = made
        self._put_fields(value, made, levels)
        return made

    def _put_fields(self, value: Any, made: Any, levels: int) -> None:
        inside = inside_of(type(value))
        for name, item, slot in [*inside.fields(value)]:
            inside.put(made, name, self.of(item, levels), slot)
