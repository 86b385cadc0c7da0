"""What a run costs before and after its firings."""

from __future__ import annotations

from benchmarks.chain import WORKS
from benchmarks.question import Question, WorkOf, timed
from benchmarks.timing import whole

__all__ = ["QUESTION"]


def as_one(make: WorkOf) -> WorkOf:
    """Count a run as one unit."""
    return lambda size: whole(make(size))


QUESTION = Question(
    "fixed",
    "a whole run of {:,} nodes",
    "µs a run",
    (3,),
    timed({way: as_one(make) for way, make in WORKS.items()}),
    target=40.0,
)
