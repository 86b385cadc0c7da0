"""The nodes of random flows: pure functions of their inputs, given alike to the engine and to the reference.

In a document they are the types `t.<function>` and the functions `t:<function>`.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from anyio.lowlevel import checkpoint

from dataflow import SKIP, Failure, Lazy, Maybe, this_firing
from dataflow.config import Config

DEFAULT: Final = 7
_FALSY: Final[dict[int, Any]] = {0: 0, 1: None, 2: "", 3: False, 4: []}


class BrokenError(Exception):
    """What a node that breaks raises."""


class Odds(Config):
    """What tells one node from the next; counts of 0 never happen.

    It leaves its conditional ports out for every `gap`-th value, fails for every `breaks`-th, and fails on
    the first `first` attempts.
    """

    salt: int = 0
    gap: int = 0
    breaks: int = 0
    first: int = 0


# what is kept of a run


@dataclass
class Record:
    """How often each attempt of each firing entered its body; `pace` says how often the next one waits."""

    pace: Callable[[], int] | None = None
    fired: Counter[tuple[str, int]] = field(default_factory=Counter)


RECORD: Final[ContextVar[Record]] = ContextVar("record")
PLACE: Final[ContextVar[tuple[str, int]]] = ContextVar("place")


@contextmanager
def recording(pace: Callable[[], int] | None = None) -> Iterator[Record]:
    """Record what runs in here."""
    record = Record(pace)
    token = RECORD.set(record)
    try:
        yield record
    finally:
        RECORD.reset(token)


def call_plainly(path: str, attempt: int, function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
    """Call a node's function without an engine, as the firing of that path and attempt."""
    token = PLACE.set((path, attempt))
    try:
        coroutine: Any = function(*args)
        coroutine.send(None)
    except StopIteration as returned:
        return returned.value
    finally:
        PLACE.reset(token)
    raise AssertionError("a node waited though no pace was set")


async def _entered() -> int:
    """Record the firing, keep its pace, and return which attempt it is, those of flow nodes included."""
    firing = this_firing()
    path, attempt = PLACE.get((firing.path, firing.attempt))
    record = RECORD.get()
    record.fired[path, attempt] += 1
    for _ in range(record.pace() if record.pace is not None else 0):
        await checkpoint()
    return max(attempt, *(int(number) for number in re.findall(r"~(\d+)", path)), 0)


def _number(*values: Any) -> int:
    return zlib.crc32(repr(_plain(list(values))).encode())


def _plain(value: Any) -> Any:
    """Leave of failures only that they are some: which of several it is may be a matter of time."""
    if isinstance(value, Failure):
        return "a failure"
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _value(number: int) -> Any:
    """Make a value of a number: one in five or so is falsy."""
    value = _FALSY.get(number % 23, number % 23)
    return list(value) if isinstance(value, list) else value


async def _made(odds: Odds, *values: Any) -> Any:
    attempt = await _entered()
    number = _number(odds.salt, *values)
    if attempt <= odds.first or (odds.breaks and number % odds.breaks == 0):
        raise BrokenError(f"{odds.salt}")
    return SKIP if odds.gap and number // 8 % odds.gap == 0 else _value(number)


# nodes


async def give(odds: Odds) -> Maybe[Any]:
    return await _made(odds)


async def one(odds: Odds, a: Any) -> Maybe[Any]:
    return await _made(odds, a)


async def two(odds: Odds, a: Any, b: Any) -> Maybe[Any]:
    return await _made(odds, a, b)


async def optional(odds: Odds, a: Any = DEFAULT) -> Maybe[Any]:
    return await _made(odds, a)


async def one_optional(odds: Odds, a: Any, b: Any = None) -> Maybe[Any]:
    return await _made(odds, a, b)


async def two_optional(odds: Odds, a: Any = DEFAULT, b: Any = "") -> Maybe[Any]:
    return await _made(odds, a, b)


async def many(odds: Odds, *xs: Any) -> Maybe[Any]:
    return await _made(odds, *xs)


async def one_many(odds: Odds, a: Any, *xs: Any) -> Maybe[Any]:
    return await _made(odds, a, *xs)


async def lazy_one(odds: Odds, a: Any, b: Lazy[Any]) -> Maybe[Any]:
    return await _made(odds, a, b)


async def lazy_optional(odds: Odds, a: Any = DEFAULT, b: Lazy[Any] = None) -> Maybe[Any]:
    return await _made(odds, a, b)


async def total(odds: Odds, xs: list[Any]) -> Maybe[Any]:
    return await _made(odds, *xs)


async def items(odds: Odds, a: Any) -> list[Any]:
    """Give a list of up to four values, most of them different."""
    attempt = await _entered()
    number = _number(odds.salt, a)
    if attempt <= odds.first or (odds.breaks and number % odds.breaks == 0):
        raise BrokenError(f"{odds.salt}")
    return [_value(number // 16 + 5 * position) for position in range(number % 5)]


async def flag(odds: Odds, a: Any) -> bool:
    await _made(odds, a)
    return _number(odds.salt, a) % 3 == 0


class Parts(NamedTuple):
    """Of which two may be left out, and with either of them the whole."""

    sure: Any
    left: Maybe[Any] = SKIP
    right: Maybe[Any] = SKIP


async def parts(odds: Odds, a: Any) -> Parts:
    value = await _made(Odds(salt=odds.salt, breaks=odds.breaks, first=odds.first), a)
    number = _number(odds.salt, a) // 64
    return Parts(value, SKIP if number % 3 == 0 else value, SKIP if number % 3 == 1 else [value])


async def told(odds: Odds, f: Failure | object) -> Maybe[Any]:
    """Read a failure, or a value."""
    return await _made(odds, f)


async def told_where(odds: Odds, f: Failure | object, *xs: Any) -> Maybe[Any]:
    """Read a failure with its place, where that is certain."""
    return await _made(odds, f.path if isinstance(f, Failure) else f, f, *xs)


# functions that documents name


def is_odd(value: Any) -> bool:
    return _number(value) % 2 == 1


def is_third(value: Any) -> bool:
    return _number(value) % 3 == 0


def is_fifth(value: Any) -> bool:
    return _number(value) % 5 == 0


def is_sound(value: Any) -> bool:
    """Answer, or break for one value in seven."""
    if _number(value) % 7 == 0:
        raise BrokenError("test")
    return _number(value) % 2 == 0


def pick(value: Any) -> str | None:
    return (None, "left", "right", "left")[_number(value) % 4]


def pick_any(value: Any) -> str | None:
    return ("other", "left", "right", None)[_number(value) % 4]


def key(item: Any) -> str:
    return f"k{_number(item) % 1000}"
