"""Timing: the median of five warm runs, the garbage of the last one out of the way; comparing, and growth."""

from __future__ import annotations

import asyncio
import gc
import math
import statistics
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from benchmarks.functions import Sleep

__all__ = [
    "MICROSECONDS",
    "Work",
    "WrongResult",
    "exponent",
    "microseconds",
    "run_on",
    "seconds",
    "sleep_on",
    "times_as_long",
    "whole",
]

T = TypeVar("T")
R = TypeVar("R")

REPEATS: Final = 5
#: What takes less than so many seconds is done again and again, so that a time is that of something warm.
LEAST_SECONDS: Final = 0.05
MOST_PLAYS: Final = 1_000
MICROSECONDS: Final = 1e6


class WrongResult(Exception):
    """What was measured did not come to what it has to."""

    def __init__(self, found: object, expected: object) -> None:
        super().__init__(f"expected {expected!r}, found {found!r}")


def nothing() -> None:
    """Be what has to be done before most works."""


@dataclass(frozen=True, slots=True)
class Work:
    """Something to time, what it comes to, and how many firings, nodes or runs it is.

    `prepare` is called before each time that it is compared, and is not timed.
    """

    run: Callable[[], Awaitable[object]]
    expected: object
    units: int
    prepare: Callable[[], object] = nothing

    async def play(self) -> None:
        """Do it once; raises WrongResult."""
        found = await self.run()
        if found != self.expected:
            raise WrongResult(found, self.expected)


def whole(work: Work) -> Work:
    """Count the work as one unit, however many nodes it has."""
    return replace(work, units=1)


async def seconds(work: Work) -> float:
    """Return how long the work takes once it has been done before; raises WrongResult.

    What is short is done several times in a row for each of the five times.
    """
    await work.play()  # what is loaded on first use is loaded now
    begun = perf_counter()
    await work.play()
    plays = max(1, min(MOST_PLAYS, round(LEAST_SECONDS / (perf_counter() - begun))))
    times = []
    for _ in range(REPEATS):
        gc.collect()
        begun = perf_counter()
        for _ in range(plays):
            await work.play()
        times.append((perf_counter() - begun) / plays)
    return statistics.median(times)


def microseconds(work: Work, backend: str) -> float:
    """Time the work on an event loop and return what a unit of it costs; raises WrongResult."""
    return run_on(backend, seconds, work) / work.units * MICROSECONDS


async def times_as_long(works: tuple[Work, Work]) -> float:
    """Return how many times as long the first work takes as the second; raises WrongResult."""
    ours, other = await seconds_in_turn(works)
    return ours / other


async def seconds_in_turn(works: tuple[Work, Work]) -> tuple[float, float]:
    """Return how long two works take that are to be compared; raises WrongResult.

    They are done in turn, and the least time of each counts: where one waits for the disk and the other does
    not, whatever else uses the disk would change their ratio; so would a processor of changing speed.
    """
    for work in works:
        await _once(work)  # what is loaded on first use is loaded now
    turns = [(await _once(works[0]), await _once(works[1])) for _ in range(REPEATS)]
    return min(ours for ours, _ in turns), min(other for _, other in turns)


async def _once(work: Work) -> float:
    work.prepare()
    gc.collect()
    begun = perf_counter()
    await work.play()
    return perf_counter() - begun


def exponent(sizes: tuple[int, int], costs: tuple[float, float]) -> float:
    """Return how the whole cost grows with the size, from the costs per unit: 1 is linear, 2 quadratic."""
    return 1 + math.log(costs[1] / costs[0]) / math.log(sizes[1] / sizes[0])


def sleep_on(backend: str) -> Sleep:
    """Return what sleeps on an event loop, without a library in between."""
    if backend == "trio":
        import trio  # the peers' environments need not have it

        return trio.sleep
    return asyncio.sleep


def run_on(backend: str, function: Callable[[T], Coroutine[Any, Any, R]], argument: T) -> R:
    """Run a coroutine function on an event loop."""
    if backend == "trio":
        import trio  # as above

        result: R = trio.run(function, argument)
        return result
    return asyncio.run(function(argument))
