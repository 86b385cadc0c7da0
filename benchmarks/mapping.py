"""What an item of a map costs."""

from __future__ import annotations

from benchmarks.flows import run_map
from benchmarks.functions import increment
from benchmarks.question import Question, Way, timed
from benchmarks.timing import Work

__all__ = ["QUESTION", "WORKS"]


def bare_map(items: int) -> Work:
    """Do the same in a comprehension."""
    numbers = list(range(items))

    async def run() -> int:
        return sum([await increment(number) for number in numbers])

    return Work(run, sum(numbers) + items, items)


WORKS = {Way.ASYNCIO: run_map, Way.TRIO: run_map, Way.BARE: bare_map}
QUESTION = Question(
    "map",
    "map over {:,} items",
    "µs an item",
    (1_000, 10_000),
    timed(WORKS),
    target=3.0,
    growth=1.05,
)
