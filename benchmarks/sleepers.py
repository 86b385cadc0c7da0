"""How much longer than one of them a thousand nodes take that sleep at the same time."""

from __future__ import annotations

from functools import partial

from benchmarks.flows import run_shape
from benchmarks.functions import napping
from benchmarks.limits import gathered
from benchmarks.prototype_works import prototype_of
from benchmarks.question import Measure, Question, Way, WorkOf
from benchmarks.shapes import fan_out
from benchmarks.timing import microseconds, sleep_on

__all__ = ["QUESTION"]


def milliseconds(make: WorkOf, backend: str, size: int) -> float:
    """Return how long the whole run takes."""
    work = make(size)
    return microseconds(work, backend) * work.units / 1_000


def of_flow(backend: str) -> Measure:
    """Measure a flow."""
    return partial(milliseconds, lambda size: run_shape(fan_out(size), napping(sleep_on(backend))), backend)


def on_asyncio(make: WorkOf) -> Measure:
    """Measure what runs on asyncio only."""
    return partial(milliseconds, make, "asyncio")


QUESTION = Question(
    "sleepers",
    "{:,} nodes that sleep 10 ms at once",
    "ms in all",
    (1_000,),
    {
        Way.ASYNCIO: of_flow("asyncio"),
        Way.TRIO: of_flow("trio"),
        Way.HAND: on_asyncio(lambda size: gathered(napping(sleep_on("asyncio")), size)),
        Way.PROTOTYPE: on_asyncio(lambda size: prototype_of(fan_out(size), napping(sleep_on("asyncio")))),
    },
    target=30.0,
)
