"""What a run costs before and after its firings."""

from __future__ import annotations

from typing import Final

from benchmarks.chain import WORKS
from benchmarks.question import Question, WorkOf, timed
from benchmarks.timing import Work

__all__ = ["QUESTION"]

#: One run is too short to time alone.
RUNS: Final = 300


def again(make: WorkOf) -> WorkOf:
    """Do the work many times over; one time is a unit."""

    def many(size: int) -> Work:
        once = make(size)

        async def run() -> bool:
            for _ in range(RUNS):
                await once.play()
            return True

        return Work(run, True, RUNS)

    return many


QUESTION = Question(
    "fixed",
    "a whole run of {:,} nodes",
    "µs a run",
    (3,),
    timed({way: again(make) for way, make in WORKS.items()}),
    target=40.0,
)
