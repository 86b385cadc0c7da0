"""What a run costs before and after its firings."""

from __future__ import annotations

from benchmarks.chain import WORKS
from benchmarks.question import Question, WorkOf, timed
from benchmarks.timing import again

__all__ = ["QUESTION"]


def repeated(make: WorkOf) -> WorkOf:
    """Do the work many times over."""
    return lambda size: again(make(size))


QUESTION = Question(
    "fixed",
    "a whole run of {:,} nodes",
    "µs a run",
    (3,),
    timed({way: repeated(make) for way, make in WORKS.items()}),
    target=40.0,
)
