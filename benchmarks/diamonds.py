"""What a firing costs where ways part and meet again, over and over."""

from __future__ import annotations

from benchmarks.question import Question, timed
from benchmarks.shapes import diamonds
from benchmarks.works import works_of

__all__ = ["QUESTION", "WORKS"]

WORKS = works_of(diamonds)
QUESTION = Question(
    "diamonds", "{:,} diamonds in series", "µs a firing", (100, 1_000), timed(WORKS), target=1.5, growth=1.05
)
