"""Mask known secrets in values: search a value of any class, and copy what contains a secret."""

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

__all__ = ["GUARDED", "Redaction"]

#: The depth to which a value with a secret is copied; deeper parts are left out, since they may have another.
MOST_LEVELS: Final = 200
TOO_DEEP: Final = "[nested too deep]"
#: Frequent classes, by id, whose values contain neither text nor other values.
SILENT: Final = frozenset(
    id(kind) for kind in (NoneType, bool, int, float, complex, date, datetime, time, timedelta, timezone)
)
BUFFERS: Final = (bytes, bytearray, memoryview)
CONTAINERS: Final = (list, tuple, dict, set, frozenset)
PATHS: Final = (PosixPath, WindowsPath, Path, PurePosixPath, PureWindowsPath, PurePath)
#: Classes whose values are not inspected.
CLOSED: Final = (
    NoneType, bool, range, EllipsisType, type, FunctionType, BuiltinFunctionType, ModuleType,
    CodeType, CoroutineType, FrameType, GeneratorType, TracebackType,  # which refer to the whole program
)  # fmt: skip
#: Classes whose values are fully described by their fields and base class: their text adds nothing.
OPEN: Final = (
    str, int, float, complex, date, time, timedelta, tzinfo, Enum, PurePath, *BUFFERS, *CONTAINERS,
)  # fmt: skip
#: The attributes that an exception keeps in neither a slot nor its `__dict__`.
OF_ERRORS: Final = [BaseException.__dict__[name] for name in ("args", "__cause__", "__context__")]
#: The descriptors that return the `__dict__` of an object, unless its class overrides that name.
FINDERS: Final = (GetSetDescriptorType, MemberDescriptorType)
#: The maximum number of cached classes.
MOST_CLASSES: Final = 1_000


class _Clean:
    """The parts of histories that were searched before: long conversations are reported often."""

    secrets: ClassVar[Secrets | None] = None
    parts: ClassVar[WeakSet[Part[Any]]] = WeakSet()

    @classmethod
    def of(cls, secrets: Secrets) -> WeakSet[Part[Any]]:
        """Return the parts that have none of these secrets."""
        if cls.secrets is not secrets:
            cls.secrets, cls.parts = secrets, WeakSet()
        return cls.parts


class Redaction:
    """Masks the secrets in one value. Parts are known by id: the value, or `_clean`, keeps them alive."""

    __slots__ = ("_clean", "_clean_parts", "_copies", "_with_secret", "secrets")

    def __init__(self, secrets: Secrets) -> None:
        self.secrets = secrets
        self._clean: dict[int, Any] = {}  # parts without a secret
        self._with_secret: set[int] = set()
        self._copies: dict[int, Any] = {}
        self._clean_parts = _Clean.of(secrets)

    def of(self, value: Any, levels: int = MOST_LEVELS) -> Any:
        """Return the value if it has no secret, else a masked copy that shares the parts without secrets.

        An object that cannot be inspected or copied is replaced by its masked text.
        """
        if type(value) is str:
            return self.secrets.without(value) if self.secrets.in_text.search(value) else value
        if id(value) in self._copies:
            return self._copies[id(value)]
        has_secret, made = True, None
        with GUARDED:
            has_secret = self._has_secret(value)
        if not has_secret:
            return value
        if not levels:
            return TOO_DEEP
        with GUARDED:
            made = self._copier(type(value))(value, levels - 1)
        made = self._copies[id(value)] = self._text(value) if made is None else made
        return made

    def _has_secret(self, value: Any) -> bool:
        """Search a value and everything it contains; the containers around a secret have it, too."""
        searched: dict[int, tuple[Any, int]] = {}  # each part with the id of its container
        todo = [(value, 0)]
        while todo:
            one, around = todo.pop()
            key, kind = id(one), type(one)
            if id(kind) in SILENT:
                continue
            if key in self._with_secret or self._is_secret(one):
                while around:
                    self._with_secret.add(around)
                    around = searched[around][1]
                return True
            if kind is str or key in searched or key in self._clean:
                continue
            inside = inside_of(kind)
            if inside.is_closed or (kind is Part and one in self._clean_parts):
                continue
            searched[key] = one, around
            todo.extend((part, key) for part in inside.parts(one))
        self._clean |= {key: one for key, (one, _) in searched.items()}
        self._clean_parts.update(one for one, _ in searched.values() if type(one) is Part)
        return False

    def _is_secret(self, one: Any) -> bool:
        kind = type(one)
        if issubclass(kind, str):
            return self.secrets.in_text.search(one) is not None
        return issubclass(kind, BUFFERS) and self.secrets.in_bytes.search(bytes_of(one)) is not None

    def _copier(self, kind: type) -> Callable[[Any, int], Any]:
        """Return the method that copies values of a class; a derived class becomes its built-in base."""
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
        """Copy a string, bytes or a path as an instance of its built-in class."""
        kind = type(value)
        if issubclass(kind, str):
            return self.secrets.without(str.__str__(value))
        if issubclass(kind, PurePath):
            return base_of(kind, PATHS)(self.secrets.without(PurePath.__str__(value)))
        return base_of(kind, BUFFERS)(self.secrets.bytes_without(bytes_of(value)))

    def _container(self, value: Any, levels: int) -> Any:
        kind = type(value)
        if issubclass(kind, dict):
            mapping = self._copies[id(value)] = {}
            for key, item in [*dict.items(value)]:  # another thread may change it meanwhile
                mapping[self.of(key, levels)] = self.of(item, levels)
            return mapping
        if issubclass(kind, list):
            items = self._copies[id(value)] = []
            items.extend(self.of(item, levels) for item in [*list.__iter__(value)])
            return items
        plain = set if issubclass(kind, set) else frozenset
        return plain(self.of(item, levels) for item in [*plain.__iter__(value)])

    def _tuple(self, value: Any, levels: int) -> Any:
        """Copy a tuple, a named tuple with its names; a plain tuple if its class cannot be instantiated."""
        kind = type(value)
        items = [self.of(item, levels) for item in tuple.__iter__(value)]
        if kind is tuple or has_end(kind):
            return tuple(items)
        with GUARDED:
            made = self._copies[id(value)] = tuple.__new__(kind, items)
            self._put_fields(value, made, levels)
            return made
        return tuple(items)

    def _object(self, value: Any, levels: int) -> Any:
        """Copy an object field by field, without calling its methods; else return its masked text."""
        kind = type(value)
        # Its parts are a linked list, which could be too deep to copy as an object.
        if any(base is History for base in lineage_of(kind)):
            return History([self.of(item, levels) for item in History.__iter__(value)])
        made = blank(kind)
        if made is None:
            return self._text(value)
        self._copies[id(value)] = made
        self._put_fields(value, made, levels)
        return made

    def _put_fields(self, value: Any, made: Any, levels: int) -> None:
        inside = inside_of(type(value))
        for name, item, slot in [*inside.fields(value)]:
            inside.put(made, name, self.of(item, levels), slot)


class _Guarded:
    """Suppress what a block raises: it calls code of users' classes, which may raise anything.

    The caller did not ask for masking, so masking must not fail. KeyboardInterrupt passes.
    """

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and not issubclass(kind, KeyboardInterrupt)


GUARDED: Final = _Guarded()


class Inside(NamedTuple):
    """How the values of a class are inspected, determined once per class.

    is_closed: whether they are not inspected at all
    is_open: whether their parts describe them fully; else their text is searched, too
    base: the built-in container that the class is derived from, or None
    slots: the slots of the class and its bases, by name
    has_names: whether they may have a `__dict__`
    names: the descriptor that returns it; None also if the class overrides that name
    """

    kind: type  # kept alive here, so that no other class gets its id
    is_closed: bool = False
    is_open: bool = True
    base: Any = None
    slots: tuple[tuple[str, MemberDescriptorType], ...] = ()
    has_names: bool = False
    names: GetSetDescriptorType | MemberDescriptorType | None = None

    def parts(self, value: Any) -> list[Any]:
        """List the parts of a value: items, fields, and its text if it is not open."""
        held = self.items(value)
        if self.slots or self.has_names:
            held += [item for _, item, _ in self.fields(value)]
        if not self.is_open:
            held.append(text_of(value))
        return held

    def items(self, value: Any) -> list[Any]:
        """List the parts that a value has as an instance of a built-in class."""
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
        """Yield the fields of a value, each with its slot, or None for those in its `__dict__`.

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
        """Set a field in its slot or the `__dict__`, bypassing properties and `__setattr__`."""
        if slot is not None:
            slot.__set__(made, item)
        else:
            self._names_of(made)[name] = item

    def _names_of(self, value: Any) -> dict[str, Any]:
        if self.names is None:
            raise LookupError  # its class overrides `__dict__`
        names: dict[str, Any] = self.names.__get__(value)
        return names


_INSIDES: Final[dict[int, Inside]] = {}


def inside_of(kind: type) -> Inside:
    """Return how the values of a class are inspected, from a cache by id, as a class may have no hash."""
    inside = _INSIDES.get(id(kind))
    if inside is None:
        if len(_INSIDES) >= MOST_CLASSES:
            _INSIDES.clear()
        inside = _INSIDES[id(kind)] = _look_into(kind)
    return inside


def _look_into(kind: type) -> Inside:
    if issubclass(kind, CLOSED) or _has(kind, "shows_only_its_name"):
        return Inside(kind, is_closed=True)
    held = [found for base in lineage_of(kind) for found in list(_of_class(base, "__dict__").items())]
    slots = tuple((name, slot) for name, slot in held if type(slot) is MemberDescriptorType)
    places = [place for name, place in held if name == "__dict__"]
    names = next((place for place in places if isinstance(place, FINDERS)), None)
    is_open = issubclass(kind, OPEN) or blank(kind) is not None
    base = base_of(kind, CONTAINERS) if issubclass(kind, CONTAINERS) else None
    has_names = bool(places and _of_class(kind, "__dictoffset__"))  # else there is none to read
    return Inside(kind, False, is_open, base, slots, has_names, names)


def lineage_of(kind: type) -> tuple[type, ...]:
    """Return a class and all its bases."""
    lineage: tuple[type, ...] = _of_class(kind, "__mro__")
    return lineage


def blank(kind: type) -> Any:
    """Return an object without fields; None for a class that needs more than fields, or has `__del__`."""
    if has_end(kind):
        return None
    try:
        return object.__new__(kind)
    except TypeError:
        return None


def has_end(kind: type) -> bool:
    """Return whether a class has `__del__`: deleting a copy might close what the original still uses."""
    return _has(kind, "__del__")


def base_of(kind: type, bases: tuple[type, ...]) -> Any:
    """Return the first of these classes that a class is a subclass of."""
    return next(base for base in bases if issubclass(kind, base))


def bytes_of(value: Any) -> bytes:
    """Return the content of a buffer; b"" for a released view."""
    kind = type(value)
    if issubclass(kind, memoryview):
        try:
            return bytes(value)
        except ValueError:
            return b""
    return value if kind is bytes else bytes(base_of(kind, BUFFERS).__getitem__(value, slice(None)))


def text_of(value: Any) -> str:
    """Return the repr of an object, or the name of its class if that raises."""
    with GUARDED:
        return str.__str__(repr(value))
    return f"<{_of_class(type(value), '__qualname__')}>"


def _has(kind: type, name: str) -> bool:
    """Return whether a class or a base defines this name, bypassing its metaclass."""
    return any(name in _of_class(base, "__dict__") for base in lineage_of(kind))


def _of_class(kind: type, name: str) -> Any:
    """Return an attribute that every class has, bypassing its metaclass."""
    return type.__dict__[name].__get__(kind)


def _viewed(view: memoryview) -> list[Any]:
    """Return the object underlying a view."""
    try:
        return [view.obj]
    except ValueError:  # it was released
        return []
