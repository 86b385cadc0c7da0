"""What a firing costs where each node waits for the one before it."""

from __future__ import annotations

from benchmarks.functions import increment, start
from benchmarks.question import Question, Way, timed
from benchmarks.shapes import chain
from benchmarks.timing import Work
from benchmarks.works import works_of

__all__ = ["QUESTION", "WORKS"]


def bare_chain(nodes: int) -> Work:
    """Do the same in a loop that needs no list of values."""

    async def run() -> int:
        value = await start()
        for _ in range(nodes - 1):
            value = await increment(value)
        return value

    return Work(run, nodes, nodes)


WORKS = {**works_of(chain), Way.BARE: bare_chain}
QUESTION = Question(
    "chain", "chain of {:,} nodes", "µs a firing", (1_000, 10_000), timed(WORKS), target=1.5, growth=1.05
)
