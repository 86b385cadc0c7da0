"""Explain why a value cannot be stored, and locate the part at fault."""

from __future__ import annotations

import io
import json
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
from dataflow.base.wording import shortened
from dataflow.secrets.known import redacted

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "MOST_LEVELS",
    "MOST_STEPS",
    "NO_FIELDS",
    "TOO_DEEP",
    "Refused",
    "UnknownClass",
    "Unreadable",
    "place_of",
    "reason_against",
    "step_into",
]

MOST_LEVELS: Final = 200  # Python's own reader and writer of JSON stop at about 1,000
TOO_DEEP: Final = f"it is nested too deep; at most {MOST_LEVELS} levels of containers and objects are stored"
NO_FIELDS: Final = (
    "its class has no fields that could be told; make it a dataclass, NamedTuple or pydantic model"
)
#: The maximum number of characters of a key, and of steps of a location, in a message.
MOST_OF_KEY: Final = 60
MOST_STEPS: Final = 20
_SHOWN: Final = (int, float, bool, bytes, type(None))
_CALLABLE: Any = Callable  # to a type checker a special form, at run time a class
_PLAIN: Final = (str, int, float, list, dict, tuple, set, frozenset, bytes, bytearray)
_STANDARD: Final = (datetime, date, time, timedelta, Decimal, PurePath, UUID)


class Refused(Exception):
    """Raised inside the codec for a value that cannot be stored; its path is added while it propagates.

    `value` is the refused part; `path` lists each container around it with the step into it, innermost first.
    """

    def __init__(self, reason: str, value: object = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.value = value
        self.path: list[tuple[object, str]] = []


class Unreadable(Exception):
    """Raised inside the codec for stored data that cannot be decoded."""


class UnknownClass(Unreadable):
    """Raised for the name of a class that is not among the types of the ports."""


#: The reasons by class; the first that matches is used.
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
    """Return why instances of a class cannot be stored, and a remedy."""
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


def step_into(key: object) -> str:
    """Write the step to the value of a key; the type of a key that is too long or complex to show."""
    if type(key) is str:
        return f"[{json.dumps(shortened(key, MOST_OF_KEY), ensure_ascii=False)}]"
    shown = repr(redacted(key)) if type(key) in _SHOWN and not _is_long(key) else type(key).__name__
    return f"[{shown}]"


def place_of(place: str, refused: Refused) -> tuple[str, object, str]:
    """Return the location of a refused part, the part and the reason; detect a value that contains itself."""
    path = refused.path[::-1]
    steps = [step for _, step in path]
    seen: dict[int, int] = {}
    for index, (holder, _) in enumerate(path):
        first = seen.setdefault(id(holder), index)
        if first != index:
            whole = _joined(place, steps[:first])
            return (
                _joined(place, steps[:index]),
                holder,
                f"it is in itself: it is {whole}; pass what it is made of",
            )
    return _joined(place, steps), refused.value, refused.reason


def _joined(place: str, steps: list[str]) -> str:
    rest = len(steps) - MOST_STEPS
    return place + "".join(steps[:MOST_STEPS]) + (f" and {rest} more steps" if rest > 0 else "")


def _is_long(key: object) -> bool:
    if isinstance(key, int):
        return key.bit_length() > 4 * MOST_OF_KEY
    return isinstance(key, bytes) and len(key) > MOST_OF_KEY
