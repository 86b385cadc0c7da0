"""What a firing costs in a random graph, where a node joins three others."""

from __future__ import annotations

from benchmarks.question import Question, timed
from benchmarks.shapes import layered
from benchmarks.works import works_of

__all__ = ["QUESTION", "WORKS"]

WORKS = works_of(layered)
QUESTION = Question(
    "layered",
    "layered random graph, {:,} nodes",
    "µs a firing",
    (1_000, 10_000),
    timed(WORKS),
    target=2.5,
    growth=1.05,
)
