"""What a benchmark asks: of which workload, in which unit, at which sizes, and each way of doing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from benchmarks.timing import Work, microseconds

__all__ = ["Measure", "Question", "Way", "WorkOf", "Works", "timed"]

#: Makes the work of a size. It is made once, then done again and again.
WorkOf = Callable[[int], Work]
#: Returns the figure of a size, in the unit of the question.
Measure = Callable[[int], float]


class Way(StrEnum):
    """How the same is done: by this engine on either event loop, and by what it is compared with."""

    ASYNCIO = "asyncio"
    TRIO = "trio"
    BARE = "bare loop"
    HAND = "hand-written"
    PROTOTYPE = "prototype"


Works = Mapping[Way, WorkOf]


@dataclass(frozen=True, slots=True)
class Question:
    """One question; `title` has `{:,}` where its size goes. Lower is better in every unit."""

    name: str
    title: str
    unit: str
    sizes: tuple[int, ...]
    measures: Mapping[Way, Measure]
    target: float | None = None
    growth: float | None = None  # the exponent from its first size to its last is to stay below this


def timed(works: Works) -> dict[Way, Measure]:
    """Measure each way by the microseconds that a unit of its work takes."""
    return {way: partial(_time, make, _backend_of(way)) for way, make in works.items()}


def _backend_of(way: Way) -> str:
    return "trio" if way is Way.TRIO else "asyncio"


def _time(make: WorkOf, backend: str, size: int) -> float:
    return microseconds(make(size), backend)
