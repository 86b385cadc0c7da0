"""Nodes of the behaviour tests. Each tells the tally when its body is entered, and then keeps the pace."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, ParamSpec, TypeVar

from anyio import Event, sleep_forever
from anyio.lowlevel import checkpoint

from dataflow import SKIP, Maybe, node, this_firing

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(slots=True)
class Tally:
    """Which bodies were entered, by path, and how often a body lets others go first."""

    checkpoints: int = 0
    paths: list[str] = field(default_factory=list)

    def runs(self) -> dict[str, int]:
        return dict(Counter(path.rsplit("/", 1)[-1].split("[", 1)[0] for path in self.paths))


TALLY: ContextVar[Tally] = ContextVar("tally")


@contextmanager
def tallying(checkpoints: int = 0) -> Iterator[Tally]:
    tally = Tally(checkpoints)
    token = TALLY.set(tally)
    try:
        yield tally
    finally:
        TALLY.reset(token)


def counted(function: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
    @functools.wraps(function)
    async def entered(*args: P.args, **kwargs: P.kwargs) -> R:
        tally = TALLY.get(None) or Tally()  # nobody counts outside of `tallying`
        tally.paths.append(this_firing().path)
        for _ in range(tally.checkpoints):
            await checkpoint()
        return await function(*args, **kwargs)

    return entered


class Parts(NamedTuple):
    a: Maybe[int] = SKIP
    b: Maybe[int] = SKIP


@counted
async def src(x: int) -> int:
    return x


@counted
async def ident(x: Any) -> Any:
    return x


@counted
async def one() -> int:
    return 1


@counted
async def inc(x: int) -> int:
    return x + 1


@counted
async def add(x: int, y: int) -> int:
    return x + y


@counted
async def square(x: int) -> int:
    return x * x


@counted
async def pair(p: int, q: int) -> list[int]:
    return [p, q]


@counted
async def defaulted(x: object = "dflt") -> object:
    return x


@counted
async def defaulted_pair(x: object = "dflt", y: object = "other") -> list[object]:
    return [x, y]


@counted
async def listed(*xs: int) -> list[int]:
    return list(xs)


@counted
async def listed_with(first: int, *xs: int) -> list[int]:
    return [first, *xs]


@counted
async def total(xs: list[int]) -> int:
    return sum(xs)


@counted
async def split(x: int) -> Parts:
    return Parts(a=x) if x > 0 else Parts(b=x)


@counted
async def small(x: int) -> Maybe[int]:
    return x if x < 2 else SKIP


@counted
async def nothing() -> Maybe[int]:
    return SKIP  # type: ignore[no-any-return]  # it stands for any value


@counted
async def no_list() -> Maybe[list[int]]:
    return SKIP  # type: ignore[no-any-return]  # as above


async def forever(x: int = 0) -> int:
    await sleep_forever()
    return x


def gated(gate: Event, name: str = "slow") -> Any:
    async def slow(x: Any = 0) -> Any:
        await gate.wait()
        return x

    return node(slow).with_(name=name)


def opening(gate: Event, name: str = "opens") -> Any:
    async def opens(x: Any = 0) -> Any:
        gate.set()
        return x

    return node(opens).with_(name=name)


@counted
async def fails(x: int = 0) -> int:
    raise ValueError(f"bad {x}")


@counted
async def fails_on_odd(x: int) -> int:
    if x % 2:
        raise ValueError(f"odd {x}")
    return x
