"""Redacting values: copies with marks in place of secrets, of those parts alone that have one (S12.4)."""

from __future__ import annotations

from datetime import date, time, timedelta, tzinfo
from enum import Enum
from pathlib import PurePath
from types import (
    BuiltinFunctionType,
    CodeType,
    CoroutineType,
    EllipsisType,
    FrameType,
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    ModuleType,
    NoneType,
    TracebackType,
)
from typing import TYPE_CHECKING, Any, ClassVar, Final
from weakref import WeakSet

from dataflow.history import History, Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dataflow.redaction import Secrets

__all__ = ["Redaction"]

#: How deep what has a secret is copied; what lies deeper in it is left out, since it may hold another.
MOST_LEVELS: Final = 200
TOO_DEEP: Final = "[nested too deep]"

#: What holds nothing else, or is not looked into.
ATOMS: Final = (
    NoneType, bool, int, float, complex, range, EllipsisType, date, time, timedelta, tzinfo, type, Enum,
    FunctionType, BuiltinFunctionType, ModuleType, str, bytes, bytearray,
    CodeType, CoroutineType, FrameType, GeneratorType, TracebackType,  # which lead to all of a program
)  # fmt: skip
#: Most of what there is, found without asking each class.
EXACTLY: Final = frozenset({NoneType, bool, int, float, str, bytes})
CONTAINERS: Final = (list, tuple, dict, set, frozenset)


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
        """Return the value if it has no secret, else a copy with marks; what has none in it is shared."""
        kind = type(value)
        if issubclass(kind, str):
            return self.secrets.without(value) if self.secrets.in_text.search(value) else value
        if issubclass(kind, bytes | bytearray):
            clean = self.secrets.bytes_without(bytes(value))
            return value if clean == value else kind(clean)
        if id(value) in self._made:
            return self._made[id(value)]
        if not self._has_secret(value):
            return value
        if not levels:
            return TOO_DEEP
        make = self._container if issubclass(kind, CONTAINERS) else self._object
        made = self._made[id(value)] = make(value, levels - 1)
        return made

    def _has_secret(self, value: Any) -> bool:
        """Look through a value and all that it holds; what is around a secret that is found has it too."""
        looked_at: dict[int, tuple[Any, int]] = {}  # with the id of what it was found in
        todo = [(value, 0)]
        while todo:
            one, around = todo.pop()
            place = id(one)
            if place in self._with_secret or self._says_secret(one):
                while around:
                    self._with_secret.add(around)
                    around = looked_at[around][1]
                return True
            if place in looked_at or place in self._looked_at or self._is_known(one):
                continue
            looked_at[place] = one, around
            todo.extend((part, place) for part in _parts(one))
        self._looked_at |= {place: one for place, (one, _) in looked_at.items()}
        self._clean_parts.update(one for one, _ in looked_at.values() if type(one) is Part)
        return False

    def _says_secret(self, one: Any) -> bool:
        kind = type(one)
        if issubclass(kind, str):
            return self.secrets.in_text.search(one) is not None
        return issubclass(kind, bytes | bytearray) and self.secrets.in_bytes.search(one) is not None

    def _is_known(self, one: Any) -> bool:
        kind = type(one)
        if kind in EXACTLY or issubclass(kind, ATOMS) or getattr(kind, "tells_only_its_name", False):
            return True
        return kind is Part and one in self._clean_parts

    def _container(self, value: Any, levels: int) -> Any:
        if isinstance(value, dict):
            mapping = self._made[id(value)] = {}
            for key, item in [*dict.items(value)]:  # another thread may change it meanwhile
                mapping[self.of(key, levels)] = self.of(item, levels)
            return mapping
        if isinstance(value, list):
            items = self._made[id(value)] = []
            items.extend(self.of(item, levels) for item in [*list.__iter__(value)])
            return items
        if isinstance(value, tuple):
            parts = [self.of(item, levels) for item in tuple.__iter__(value)]
            return tuple.__new__(type(value), parts)
        plain = set if isinstance(value, set) else frozenset
        return plain(self.of(item, levels) for item in [*plain.__iter__(value)])

    def _object(self, value: Any, levels: int) -> Any:
        """Copy an object field by field, without calling anything of its own; else tell it as text."""
        if isinstance(value, History):  # its parts are linked, as deep as they are many
            return History([self.of(item, levels) for item in value])
        if isinstance(value, PurePath):
            return type(value)(self.secrets.without(str(value)))
        made = _blank(type(value))
        if made is None:
            return self.secrets.without(_text(value))
        self._made[id(value)] = made
        try:
            for name, item, slot in [*_slots(value)]:
                _put(made, name, self.of(item, levels), slot)
        except Exception:  # noqa: BLE001 - whatever keeps a field from being set, there is the text
            return self.secrets.without(_text(value))
        return made


def _parts(value: Any) -> Iterable[Any]:
    """List what a value holds: items, fields, and the text of what is not open to a look inside."""
    kind = type(value)
    if issubclass(kind, dict):
        return [*dict.keys(value), *dict.values(value)]
    if issubclass(kind, CONTAINERS):
        plain = next(one for one in CONTAINERS if issubclass(kind, one))
        return [*plain.__iter__(value)]
    if issubclass(kind, PurePath):
        return [str(value)]
    fields = [item for _, item in _fields(value)]
    return fields if _blank(kind) is not None else [*fields, _text(value)]


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Go through what an object has in slots and in its `__dict__`, without calling anything of its own."""
    for name, item, _ in _slots(value):
        yield name, item


def _slots(value: Any) -> Iterator[tuple[str, Any, MemberDescriptorType | None]]:
    """Go through the fields of an object, each with its slot; None for what is in its `__dict__`."""
    for kind in type(value).__mro__:
        for name, slot in list(kind.__dict__.items()):
            if type(slot) is MemberDescriptorType:
                try:
                    yield name, slot.__get__(value), slot
                except AttributeError:  # it was never set
                    continue
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:  # it has slots only
        return
    yield from ((name, item, None) for name, item in list(own.items()))


def _put(made: Any, name: str, item: Any, slot: MemberDescriptorType | None) -> None:
    """Set a field where it was found, past properties and what else of its class would check it."""
    if slot is not None:
        slot.__set__(made, item)
    else:
        object.__getattribute__(made, "__dict__")[name] = item


def _blank(kind: type) -> Any:
    """Make an object without fields; None for a class that has more than these, or an end to be told of."""
    if hasattr(kind, "__del__"):  # a copy that ends might close what is still in use
        return None
    try:
        return object.__new__(kind)
    except TypeError:
        return None


def _text(value: Any) -> str:
    """Tell an object as text; whatever that raises, there is one."""
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - it is somebody's own, and may raise anything
        return f"<{type(value).__qualname__}>"
