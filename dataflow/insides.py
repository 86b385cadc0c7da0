"""What values have inside, found and set without calling anything of their classes (S12.4)."""

from __future__ import annotations

from datetime import date, time, timedelta, tzinfo
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
    MemberDescriptorType,
    ModuleType,
    NoneType,
    TracebackType,
)
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "BUFFERS",
    "CONTAINERS",
    "PATHS",
    "Inside",
    "base_of",
    "blank",
    "bytes_of",
    "has_end",
    "inside_of",
    "put",
    "text_of",
]

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


#: How many classes are kept in mind, and so in memory.
MOST_CLASSES: Final = 1_000


class Inside(NamedTuple):
    """What the values of a class have inside, found out once for many of them.

    is_closed: whether nothing in them is looked at
    is_open: whether nothing of them is hidden; else their text is looked at, too
    base: the built-in container that they are, None for others
    slots: those of the class and its bases, by name
    has_names: whether they may have a `__dict__`
    """

    kind: type  # is held here, so that no other class has its id
    is_closed: bool = False
    is_open: bool = True
    base: Any = None
    slots: tuple[tuple[str, MemberDescriptorType], ...] = ()
    has_names: bool = False

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
        """Go through the fields of a value, each with its slot; None for what is in its `__dict__`."""
        for name, slot in self.slots:
            try:
                yield name, slot.__get__(value), slot
            except AttributeError:  # it was never set
                continue
        if self.has_names:
            own = object.__getattribute__(value, "__dict__")
            yield from ((name, item, None) for name, item in list(own.items()))


_FOUND: Final[dict[int, Inside]] = {}


def inside_of(kind: type) -> Inside:
    """Tell what the values of a class have inside; it is found out once, and no class is asked for a hash."""
    found = _FOUND.get(id(kind))
    if found is None:
        if len(_FOUND) >= MOST_CLASSES:
            _FOUND.clear()
        found = _FOUND[id(kind)] = _found(kind)
    return found


def _found(kind: type) -> Inside:
    if issubclass(kind, CLOSED) or _has(kind, "tells_only_its_name"):
        return Inside(kind, is_closed=True)
    slots = tuple(
        (name, slot)
        for base in kind.__mro__
        for name, slot in list(base.__dict__.items())
        if type(slot) is MemberDescriptorType
    )
    is_open = issubclass(kind, OPEN) or blank(kind) is not None
    base = base_of(kind, CONTAINERS) if issubclass(kind, CONTAINERS) else None
    return Inside(kind, False, is_open, base, slots, bool(kind.__dictoffset__))


def put(made: Any, name: str, item: Any, slot: MemberDescriptorType | None) -> None:
    """Set a field where it was found, past properties and what else of its class would check it."""
    if slot is not None:
        slot.__set__(made, item)
    else:
        object.__getattribute__(made, "__dict__")[name] = item


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
    """Tell an object as text; whatever that raises, there is one."""
    try:
        return str.__str__(repr(value))
    except Exception:  # noqa: BLE001 - it is somebody's own, and may raise anything
        return f"<{type(value).__qualname__}>"


def _has(kind: type, name: str) -> bool:
    """Tell whether a class has something of this name, past what its own class says of that."""
    return any(name in base.__dict__ for base in kind.__mro__)


def _viewed(view: memoryview) -> list[Any]:
    """Return what a view shows a part of."""
    try:
        return [view.obj]
    except ValueError:  # it was released
        return []
