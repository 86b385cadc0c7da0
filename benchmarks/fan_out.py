"""What a firing costs where many nodes become ready at once, and one waits for all of them."""

from __future__ import annotations

from benchmarks.question import Question, timed
from benchmarks.shapes import fan_out
from benchmarks.works import works_of

__all__ = ["QUESTION", "WORKS"]

WORKS = works_of(fan_out)
QUESTION = Question(
    "fan-out",
    "fan-out to {:,} and join",
    "µs a firing",
    (1_000, 10_000),
    timed(WORKS),
    target=1.5,
    growth=1.05,
)
