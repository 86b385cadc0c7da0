"""Why a value cannot be stored, and what would help (S12.3)."""

from __future__ import annotations

import io
import typing
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from dataflow.base.markers import Marker

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NO_FIELDS", "Refused", "UnknownClass", "Unreadable", "reason_against"]


class Refused(Exception):
    """Raised within the codec for what cannot be stored; gathers on its way where that is.

    `value` is the part refused; `path` has each container around it with the step into it, the inmost first.
    """

    def __init__(self, reason: str, value: object = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.value = value
        self.path: list[tuple[object, str]] = []


class Unreadable(Exception):
    """Raised within the codec for stored data that makes no value."""


class UnknownClass(Unreadable):
    """Raised for the name of a class that the types of the ports do not tell."""


NO_FIELDS: Final = (
    "its class has no fields that could be told; make it a dataclass, NamedTuple or pydantic model"
)
_CALLABLE: Any = Callable  # to a type checker a special form, at run time a class
_PLAIN: Final = (str, int, float, list, dict, tuple, set, frozenset, bytes, bytearray)
_STANDARD: Final = (datetime, date, time, timedelta, Decimal, PurePath, UUID)

#: What is said of classes, the first that fits.
_REASONS: Final[Sequence[tuple[type | tuple[type, ...], str]]] = (
    (Marker, "it stands for the lack of a value; leave the port out, or skip it, in its node"),
    (type, "it is a class; pass its name, or an instance"),
    (ModuleType, "it is a module; pass its name"),
    (BaseException, "it is an exception; pass its text, or take `$error`, which is a Failure"),
    ((io.IOBase, typing.IO), "it is open, and closed in another process; pass its path or what it holds"),
    ((Iterator, AsyncIterator), "it is used up by reading; make a list of it"),
    (Awaitable, "it can be awaited once, and not in another process; await it and pass the result"),
    (tzinfo, "it is no fixed `timezone` nor a `ZoneInfo` of a datetime; pass the name of the zone"),
    (deque, "it is a deque; make a list of it"),
)


def reason_against(kind: type) -> str:
    """Say why instances of a class cannot be stored, and what would help."""
    for kinds, reason in _REASONS:
        if issubclass(kind, kinds):
            return reason
    for base in (*_PLAIN, *_STANDARD):
        if issubclass(kind, base) and not issubclass(kind, Enum):
            return f"it is no {base.__name__} but of a class derived from it; make a {base.__name__} of it"
    if issubclass(kind, AbstractContextManager | AbstractAsyncContextManager):
        return "it is something to be entered and left; open it inside the node that needs it"
    if issubclass(kind, _CALLABLE):
        return "it is a function; make it inside the node that needs it, or pass what it would return"
    return NO_FIELDS
