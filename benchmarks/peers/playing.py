"""What the peers' scripts share: `python -m benchmarks.peers.NAME QUESTION SIZE` prints a figure as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Mapping

from benchmarks.timing import MICROSECONDS, Work, run_on, seconds

__all__ = ["building", "in_async", "play"]


def in_async(function: Callable[[], object]) -> Callable[[], Awaitable[object]]:
    """Make a coroutine function of a synchronous one."""

    async def run() -> object:
        return function()

    return run


def building(build: Callable[[], object], nodes: int) -> Work:
    """Time what builds."""

    async def run() -> bool:
        build()
        return True

    return Work(run, True, nodes)


def play(works: Mapping[str, Callable[[int], Work]]) -> None:
    """Measure what the command line asks for: microseconds a unit, of the sleepers milliseconds in all."""
    question, size = sys.argv[1:]
    work = works[question](int(size))
    taken = run_on("asyncio", seconds, work)
    print(json.dumps(taken * 1_000 if question == "sleepers" else taken / work.units * MICROSECONDS))
