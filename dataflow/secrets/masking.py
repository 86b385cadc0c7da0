"""Copies of values and texts with placeholders in place of known secrets."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone, tzinfo
from enum import Enum
from pathlib import Path, PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from types import (
    BuiltinFunctionType,
    CodeType,
    CoroutineType,
    EllipsisType,
    FrameType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
    NoneType,
    TracebackType,
)
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple
from weakref import WeakSet

from dataflow.base.history import History, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataflow.secrets.known import Secrets


__all__ = [
    "BUFFERS",
    "CONTAINERS",
    "GUARDED",
    "PATHS",
    "Inside",
    "Redaction",
    "base_of",
    "blank",
    "bytes_of",
    "has_end",
    "inside_of",
    "lineage_of",
    "text_of",
]

#: How deep what has a secret is copied; what lies deeper in it is left out, since it may hold another.
MOST_LEVELS: Final = 200
TOO_DEEP: Final = "[nested too deep]"
#: The classes of much of what there is, by id: they say nothing, and hold nothing.
SILENT: Final = frozenset(
    id(kind) for kind in (NoneType, bool, int, float, complex, date, datetime, time, timedelta, timezone)
)
BUFFERS: Final = (bytes, bytearray, memoryview)
CONTAINERS: Final = (list, tuple, dict, set, frozenset)
PATHS: Final = (PosixPath, WindowsPath, Path, PurePosixPath, PureWindowsPath, PurePath)
#: What holds nothing else, or is not looked into.
CLOSED: Final = (
    NoneType, bool, range, EllipsisType, type, FunctionType, BuiltinFunctionType, ModuleType,
    CodeType, CoroutineType, FrameType, GeneratorType, TracebackType,  # which lead to all of a program
)  # fmt: skip
#: What is known whole once its fields are, and what its base holds: its text tells nothing more.
OPEN: Final = (
    str, int, float, complex, date, time, timedelta, tzinfo, Enum, PurePath, *BUFFERS, *CONTAINERS,
)  # fmt: skip
#: What an exception holds in neither a slot nor its `__dict__`.
OF_ERRORS: Final = [BaseException.__dict__[name] for name in ("args", "__cause__", "__context__")]
#: What finds the `__dict__` of an object, unless its class has something else in that place.
FINDERS: Final = (GetSetDescriptorType, MemberDescriptorType)
#: How many classes are kept in mind, and so in memory.
MOST_CLASSES: Final = 1_000


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


class _Guarded:
    """Forget what a block raises: it ends in code of somebody's class, which may raise anything.

    Redacting is nothing that the caller asked for, so it is to fail for nobody. An interrupt is no failure,
    and is let through.
    """

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and not issubclass(kind, KeyboardInterrupt)


GUARDED: Final = _Guarded()


class Inside(NamedTuple):
    """What the values of a class have inside, found out once for many of them.

    is_closed: whether nothing in them is looked at
    is_open: whether nothing of them is hidden; else their text is looked at, too
    base: the built-in container that they are, None for others
    slots: those of the class and its bases, by name
    has_names: whether they may have a `__dict__`
    names: what finds it; None also if the class has something of its own in that place
    """

    kind: type  # is held here, so that no other class has its id
    is_closed: bool = False
    is_open: bool = True
    base: Any = None
    slots: tuple[tuple[str, MemberDescriptorType], ...] = ()
    has_names: bool = False
    names: GetSetDescriptorType | MemberDescriptorType | None = None

    def parts(self, value: Any) -> list[Any]:
        """List what a value holds: items, fields, and the text of what is not open."""
        held = self.items(value)
        if self.slots or self.has_names:
            held += [item for _, item, _ in self.fields(value)]
        if not self.is_open:
            held.append(text_of(value))
        return held

    def items(self, value: Any) -> list[Any]:
        """List what a value of a built-in class holds, or of a class derived from one."""
        if self.base is dict:
            return [*dict.keys(value), *dict.values(value)]
        if self.base is not None:
            return [*self.base.__iter__(value)]  # another thread may change it meanwhile
        if issubclass(self.kind, PurePath):
            return [PurePath.__str__(value)]
        if issubclass(self.kind, memoryview):
            return _viewed(value)
        if issubclass(self.kind, BaseException):
            return [field.__get__(value) for field in OF_ERRORS]
        return []

    def fields(self, value: Any) -> Iterator[tuple[str, Any, MemberDescriptorType | None]]:
        """Go through the fields of a value, each with its slot; None for what is in its `__dict__`.

        Raises LookupError for one whose `__dict__` cannot be found.
        """
        for name, slot in self.slots:
            try:
                yield name, slot.__get__(value), slot
            except AttributeError:  # it was never set
                continue
        if self.has_names:
            yield from ((name, item, None) for name, item in list(self._names_of(value).items()))

    def put(self, made: Any, name: str, item: Any, slot: MemberDescriptorType | None) -> None:
        """Set a field where it was found, past properties and what else of its class would check it."""
        if slot is not None:
            slot.__set__(made, item)
        else:
            self._names_of(made)[name] = item

    def _names_of(self, value: Any) -> dict[str, Any]:
        if self.names is None:
            raise LookupError  # its class has something of its own in that place
        names: dict[str, Any] = self.names.__get__(value)
        return names


_INSIDES: Final[dict[int, Inside]] = {}


def inside_of(kind: type) -> Inside:
    """Tell what the values of a class have inside; it is found out once, and no class is asked for a hash."""
    inside = _INSIDES.get(id(kind))
    if inside is None:
        if len(_INSIDES) >= MOST_CLASSES:
            _INSIDES.clear()
        inside = _INSIDES[id(kind)] = _look_into(kind)
    return inside


def _look_into(kind: type) -> Inside:
    if issubclass(kind, CLOSED) or _has(kind, "tells_only_its_name"):
        return Inside(kind, is_closed=True)
    held = [found for base in lineage_of(kind) for found in list(_of_class(base, "__dict__").items())]
    slots = tuple((name, slot) for name, slot in held if type(slot) is MemberDescriptorType)
    places = [place for name, place in held if name == "__dict__"]
    names = next((place for place in places if isinstance(place, FINDERS)), None)
    is_open = issubclass(kind, OPEN) or blank(kind) is not None
    base = base_of(kind, CONTAINERS) if issubclass(kind, CONTAINERS) else None
    has_names = bool(places and _of_class(kind, "__dictoffset__"))  # without a place, nobody gets at them
    return Inside(kind, False, is_open, base, slots, has_names, names)


def lineage_of(kind: type) -> tuple[type, ...]:
    """Return a class and all that it is derived from."""
    lineage: tuple[type, ...] = _of_class(kind, "__mro__")
    return lineage


def blank(kind: type) -> Any:
    """Make an object without fields; None for a class that has more than these, or an end to be told of."""
    if has_end(kind):
        return None
    try:
        return object.__new__(kind)
    except TypeError:
        return None


def has_end(kind: type) -> bool:
    """Tell whether a copy that ends might close what is still in use."""
    return _has(kind, "__del__")


def base_of(kind: type, bases: tuple[type, ...]) -> Any:
    """Return the first of these classes that a class is derived from, or is."""
    return next(base for base in bases if issubclass(kind, base))


def bytes_of(value: Any) -> bytes:
    """Return what is in a buffer; nothing of a view that was released."""
    kind = type(value)
    if issubclass(kind, memoryview):
        try:
            return bytes(value)
        except ValueError:
            return b""
    return value if kind is bytes else bytes(base_of(kind, BUFFERS).__getitem__(value, slice(None)))


def text_of(value: Any) -> str:
    """Tell an object as text, by its `__repr__`, or by its class if that raises something."""
    with GUARDED:
        return str.__str__(repr(value))
    return f"<{_of_class(type(value), '__qualname__')}>"


def _has(kind: type, name: str) -> bool:
    """Tell whether a class has something of this name, past what its own class says of that."""
    return any(name in _of_class(base, "__dict__") for base in lineage_of(kind))


def _of_class(kind: type, name: str) -> Any:
    """Return what each class has, past what its own class says of that."""
    return type.__dict__[name].__get__(kind)


def _viewed(view: memoryview) -> list[Any]:
    """Return what a view shows a part of."""
    try:
        return [view.obj]
    except ValueError:  # it was released
        return []
