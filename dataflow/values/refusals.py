"""Explain why a value cannot be stored, and locate the part at fault."""

from __future__ import annotations

import io
import json
import typing
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from dataflow.base.markers import Marker
from dataflow.base.wording import conceal, shortened
from dataflow.diagnostics.values import CONTAINS_ITSELF, DATA_MALFORMED, NESTED_TOO_DEEPLY, NOT_STORABLE
from dataflow.types.shapes import type_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = [
    "MOST_LEVELS",
    "MOST_STEPS",
    "NO_FIELDS",
    "Refused",
    "UnknownClass",
    "Unreadable",
    "malformed",
    "not_storable",
    "place_of",
    "reason_against",
    "step_into",
    "too_deep",
]

MOST_LEVELS: Final = 200  # Python's own reader and writer of JSON stop at about 1,000
LEVELS: Final = f"at most {MOST_LEVELS} levels of containers and objects"
#: Why instances of most other classes cannot be stored, and a remedy.
NO_FIELDS: Final = (
    "its class has no fields that could be read",
    "make it a dataclass, NamedTuple or pydantic model, or register a codec for its class",
)
#: The maximum number of characters of a key, and of steps of a location, in a message.
MOST_OF_KEY: Final = 60
MOST_STEPS: Final = 20
_SHOWN: Final = (int, float, bool, bytes, type(None))
_CALLABLE: Any = Callable  # to a type checker a special form, at run time a class
_FUNCTIONS: Final = (FunctionType, BuiltinFunctionType, MethodType, partial)
_PLAIN: Final = (str, int, float, list, dict, tuple, set, frozenset, bytes, bytearray)
_STANDARD: Final = (datetime, date, time, timedelta, Decimal, PurePath, UUID)


class Refused(Exception):
    """Raised inside the codec for a value that cannot be stored; its path is added while it propagates.

    `value` is the refused part; `path` lists each container around it with the step into it, innermost first.
    """

    def __init__(self, problem: Diagnostic, value: object = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.value = value
        self.path: list[tuple[object, str]] = []


class Unreadable(Exception):
    """Raised inside the codec for stored data that cannot be decoded."""

    def __init__(self, problem: Diagnostic) -> None:
        super().__init__(problem)
        self.problem = problem

    def within(self, place: str) -> Unreadable:
        """Return the same error for the value that contains this one."""
        return type(self)(self.problem.within(place))


class UnknownClass(Unreadable):
    """Raised for the name of a class that is not among the types of the ports."""


def malformed(expected: str, found: object, place: str = "") -> Unreadable:
    """Return the error for stored data of another type than expected."""
    kind = "nothing" if type(found) is object else type(found).__name__
    return Unreadable(DATA_MALFORMED(place, expected=expected, found=kind))


#: The reasons by class, each with a remedy; the first that matches is used.
_REASONS: Final[Sequence[tuple[type | tuple[type, ...], str, str]]] = (
    (Marker, "it means that there is no value", "leave the port out, or skip it, in its node"),
    (type, "it is a class", "pass its name, or an instance"),
    (ModuleType, "it is a module", "pass its name"),
    (BaseException, "it is an exception", "pass its text, or take `$error`, which is a Failure"),
    ((io.IOBase, typing.IO), "it is open in this process alone", "pass its path or its content"),
    ((Iterator, AsyncIterator), "reading it uses it up", "make a list of it"),
    (Awaitable, "it can be awaited once, in this process", "await it and pass the result"),
    (
        tzinfo,
        "it is neither a fixed `timezone` nor a `ZoneInfo` of a datetime",
        "pass the name of the zone",
    ),
)


def reason_against(kind: type) -> tuple[str, str]:
    """Return why instances of a class cannot be stored, and a remedy."""
    for kinds, reason, advice in _REASONS:
        if issubclass(kind, kinds):
            return reason, advice
    for base in (*_PLAIN, *_STANDARD):
        if issubclass(kind, base) and not issubclass(kind, Enum):
            return f"its class is derived from {base.__name__}", f"make a {base.__name__} of it"
    if issubclass(kind, AbstractContextManager | AbstractAsyncContextManager):
        return "it is something to be entered and left", "open it inside the node that needs it"
    if kind is _CALLABLE or issubclass(kind, _FUNCTIONS):
        return "it is a function", "make it inside the node that needs it, or pass what it would return"
    return NO_FIELDS


def not_storable(kind: type, why: str = "", advice: str = "", *, found: str = "") -> Diagnostic:
    """Return the problem of an instance of a class; by default with what speaks against the class."""
    if not why:
        why, advice = reason_against(kind)
    return NOT_STORABLE(found=found or type_name(kind), why=why, advice=advice)


def too_deep(kind: type) -> Diagnostic:
    """Return the problem of a value with too many levels."""
    return NESTED_TOO_DEEPLY(found=type_name(kind), expected=LEVELS)


def step_into(key: object) -> str:
    """Write the step to the value of a key; the type of a key that is too long or complex to show."""
    if type(key) is str:
        return f"[{json.dumps(shortened(key, MOST_OF_KEY), ensure_ascii=False)}]"
    shown = conceal(repr(key)) if type(key) in _SHOWN and not _is_long(key) else type(key).__name__
    return f"[{shown}]"


def place_of(place: str, refused: Refused) -> tuple[str, object, Diagnostic]:
    """Return the place of a refused part, the part and the problem; detect a value that contains itself."""
    path = refused.path[::-1]
    steps = [step for _, step in path]
    seen: dict[int, int] = {}
    for index, (holder, _) in enumerate(path):
        first = seen.setdefault(id(holder), index)
        if first != index:
            whole = _joined(place, steps[:first])
            problem = CONTAINS_ITSELF(found=type_name(type(holder)), where=f": it is {whole}")
            return _joined(place, steps[:index]), holder, problem
    return _joined(place, steps), refused.value, refused.problem


def _joined(place: str, steps: list[str]) -> str:
    rest = len(steps) - MOST_STEPS
    return place + "".join(steps[:MOST_STEPS]) + (f" and {rest} more steps" if rest > 0 else "")


def _is_long(key: object) -> bool:
    if isinstance(key, int):
        return key.bit_length() > 4 * MOST_OF_KEY
    return isinstance(key, bytes) and len(key) > MOST_OF_KEY
