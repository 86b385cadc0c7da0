"""What a firing costs in a loop."""

from __future__ import annotations

from benchmarks.flows import run_loop
from benchmarks.functions import increment
from benchmarks.prototype_works import prototype_loop
from benchmarks.question import Question, Way, timed
from benchmarks.shapes import loop_result
from benchmarks.timing import Work

__all__ = ["QUESTION", "WORKS"]


def bare_loop(rounds: int) -> Work:
    """Do the same in a loop of Python."""
    stop = loop_result(rounds)

    async def run() -> int:
        value = 0
        while value < stop:
            value = await increment(value)
            value = await increment(value)
            value = await increment(value)
        return value

    return Work(run, stop, stop)


WORKS = {
    Way.ASYNCIO: run_loop,
    Way.TRIO: run_loop,
    Way.BARE: bare_loop,
    Way.PROTOTYPE: prototype_loop,
}
QUESTION = Question(
    "loop",
    "loop of 3 nodes, {:,} rounds",
    "µs a firing",
    (100, 1_000),
    timed(WORKS),
    target=3.0,
    growth=1.05,
)
