"""How much more a firing costs while somebody listens to every event of the run."""

from __future__ import annotations

from functools import partial

from benchmarks.flows import flow_of, run_flow
from benchmarks.prototype_works import prototype_of
from benchmarks.question import Question, Way
from benchmarks.shapes import chain
from benchmarks.timing import Work, microseconds
from dataflow import Flow

__all__ = ["QUESTION"]


def listened(flow: Flow, expected: int, units: int) -> Work:
    """Run a flow and read all its events, of which there are some for each node."""

    async def run() -> int:
        heard = 0
        async with flow.start() as run:
            async for _ in run.events():
                heard += 1
            result = await run
        assert heard > units, "a node has more than one event"
        return sum(result.outputs.values())

    return Work(run, expected, units)


def on_flow(backend: str, size: int) -> float:
    """Return the difference that a listener makes to the engine."""
    shape = chain(size)
    flow = flow_of(shape)
    with_listener = microseconds(listened(flow, shape.result, size), backend)
    return with_listener - microseconds(run_flow(flow, shape.result, size), backend)


def on_prototype(size: int) -> float:
    """Return the difference that a listener makes to the prototype."""
    shape = chain(size)
    with_listener = microseconds(prototype_of(shape, listen=True), "asyncio")
    return with_listener - microseconds(prototype_of(shape), "asyncio")


QUESTION = Question(
    "listening",
    "a listener to all events, chain of {:,} nodes",
    "µs more a firing",
    (10_000,),
    {
        Way.ASYNCIO: partial(on_flow, "asyncio"),
        Way.TRIO: partial(on_flow, "trio"),
        Way.PROTOTYPE: on_prototype,
    },
    target=2.0,
)
