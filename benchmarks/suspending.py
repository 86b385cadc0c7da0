"""What a firing costs where every node really waits, all of them at once or a hundred at a time."""

from __future__ import annotations

from typing import Final

from benchmarks.flows import flow_of, run_flow, run_shape
from benchmarks.functions import suspending
from benchmarks.limits import gathered
from benchmarks.prototype_works import prototype_of
from benchmarks.question import Question, Way, WorkOf, timed
from benchmarks.shapes import fan_out
from benchmarks.timing import Work, sleep_on

__all__ = ["QUESTIONS"]

AT_ONCE: Final = 100


def all_at_once(backend: str) -> WorkOf:
    """Run a flow whose nodes all suspend once."""
    return lambda size: run_shape(fan_out(size), suspending(sleep_on(backend)))


def limited(backend: str) -> WorkOf:
    """Do the same with a limit."""

    def make(size: int) -> Work:
        shape = fan_out(size)
        flow = flow_of(shape, suspending(sleep_on(backend))).using(max_concurrency=AT_ONCE)
        return run_flow(flow, shape.result, len(shape))

    return make


def on_prototype(limit: float) -> WorkOf:
    """Do the same on the prototype."""
    return lambda size: prototype_of(fan_out(size), suspending(sleep_on("asyncio")), limit=limit)


QUESTIONS: Final = (
    Question(
        "suspending",
        "{:,} nodes that all suspend once",
        "µs a firing",
        (10_000,),
        timed(
            {
                Way.ASYNCIO: all_at_once("asyncio"),
                Way.TRIO: all_at_once("trio"),
                Way.HAND: lambda size: gathered(suspending(sleep_on("asyncio")), size),
                Way.PROTOTYPE: on_prototype(float("inf")),
            }
        ),
        target=15.0,
    ),
    Question(
        "suspending-limited",
        f"{{:,}} nodes that all suspend once, {AT_ONCE} at a time",
        "µs a firing",
        (10_000,),
        timed(
            {
                Way.ASYNCIO: limited("asyncio"),
                Way.TRIO: limited("trio"),
                Way.PROTOTYPE: on_prototype(AT_ONCE),
            }
        ),
        target=4.0,
    ),
)
