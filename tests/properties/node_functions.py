"""The nodes of random flows: pure functions of their inputs, given alike to the engine and to the reference.

In a document they are the types `t.<function>` and the functions `t:<function>`.
"""

from __future__ import annotations

import copy
import re
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, NamedTuple

from anyio.lowlevel import checkpoint

from dataflow import SKIP, Failure, Lazy, Maybe, this_firing
from dataflow.core.config import Config

DEFAULT: Final = 7
#: Values that are not numbers, of which many are falsy, and all go through a journal (S12.3).
_ODD: Final[dict[int, Any]] = {
    0: 0, 1: None, 2: "", 3: False, 4: [], 5: (1, "two"), 6: b"\x00\xff", 7: Decimal("1.10"), 8: {3, 1},
    9: {1: "one"}, 10: 0.5, 11: 2**70,
}  # fmt: skip


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
    earlier: Mapping[str, int] = field(default_factory=dict)  # attempts that count no more, by path
    healed: Collection[str] = ()  # paths of firings that fail no more
    fired: Counter[tuple[str, int]] = field(default_factory=Counter)
    calls: list[tuple[str, int]] = field(default_factory=list)  # with attempts as the engine counts them


RECORD: Final[ContextVar[Record]] = ContextVar("record")
PLACE: Final[ContextVar[tuple[str, int]]] = ContextVar("place")


@contextmanager
def recording(
    pace: Callable[[], int] | None = None,
    earlier: Mapping[str, int] | None = None,
    healed: Collection[str] = (),
) -> Iterator[Record]:
    record = Record(pace, earlier or {}, healed)
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


async def _entered() -> int | None:
    """Record the firing, keep its pace, and return which attempt it is, those of flow nodes included.

    None for a firing that fails no more.
    """
    firing = this_firing()
    path, attempt = PLACE.get((firing.path, firing.attempt))
    record = RECORD.get()
    record.calls.append((path, attempt))
    attempt -= record.earlier.get(path, 0)
    record.fired[path, attempt] += 1
    for _ in range(record.pace() if record.pace is not None else 0):
        await checkpoint()
    return None if path in record.healed else max(attempt, *map(int, re.findall(r"~(\d+)", path)), 0)


def _break(odds: Odds, attempt: int | None, number: int) -> None:
    if attempt is not None and (attempt <= odds.first or (odds.breaks and number % odds.breaks == 0)):
        raise BrokenError(f"{odds.salt}")


def _number(*values: Any) -> int:
    return zlib.crc32(repr(_plain(list(values))).encode())


def _plain(value: Any) -> Any:
    """Leave of failures only that they are some: which of several it is may be a matter of time."""
    if isinstance(value, Failure):
        return "a failure"
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _value(number: int) -> Any:
    """Make a value of a number: one in five or so is falsy."""
    return copy.copy(_ODD.get(number % 29, number % 29))


def answer_to(ask: str) -> Any:
    """Answer an ask: a value of its path."""
    return _value(_number("an answer", ask))


async def _made(odds: Odds, *values: Any) -> Any:
    attempt = await _entered()
    number = _number(odds.salt, *values)
    _break(odds, attempt, number)
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


async def other_one(odds: Odds, a: Any) -> Maybe[Any]:
    return await _made(odds, "other", a)


async def other_optional(odds: Odds, a: Any = DEFAULT) -> Maybe[Any]:
    return await _made(odds, "other", a)


async def other_two(odds: Odds, a: Any, b: Any) -> Maybe[Any]:
    return await _made(odds, "other", a, b)


async def other_total(odds: Odds, xs: list[Any]) -> Maybe[Any]:
    return await _made(odds, "other", *xs)


async def items(odds: Odds, a: Any) -> list[Any]:
    """Give a list of up to four values, most of them different."""
    attempt = await _entered()
    number = _number(odds.salt, a)
    _break(odds, attempt, number)
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
    return await _made(odds, f)


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
