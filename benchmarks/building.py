"""What wiring and checking a flow costs for each of its nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from benchmarks.flows import flow_of
from benchmarks.limits import HandWritten
from benchmarks.prototype_works import graph_of
from benchmarks.question import Question, Way, WorkOf, Works, timed
from benchmarks.shapes import Shape, chain, layered
from benchmarks.timing import Work

__all__ = ["QUESTIONS", "WORKS"]


def building(shape_of: Callable[[int], Shape], build: Callable[[Shape], int]) -> WorkOf:
    """Build what runs a shape, and count its nodes."""

    def make(size: int) -> Work:
        shape = shape_of(size)
        _ = shape.ends, shape.readers, shape.result  # they are no part of it

        async def run() -> int:
            return build(shape)

        return Work(run, len(shape), len(shape))

    return make


def build_flow(shape: Shape) -> int:
    """Wire, check and compile a flow."""
    return len(flow_of(shape).wiring.block.nodes)


def build_by_hand(shape: Shape) -> int:
    """List what the hand-written scheduler reads."""
    return len(HandWritten(shape).plan)


def build_prototype(shape: Shape) -> int:
    """Wire, check and compile a graph of the prototype."""
    return len(graph_of(shape).compile().nodes)


def building_of(shape_of: Callable[[int], Shape]) -> Works:
    """Return each way of building a shape."""
    return {
        Way.ASYNCIO: building(shape_of, build_flow),
        Way.HAND: building(shape_of, build_by_hand),
        Way.PROTOTYPE: building(shape_of, build_prototype),
    }


WORKS = building_of(chain)
QUESTIONS: Final = (
    Question(
        "building",
        "building and checking a chain of {:,} nodes",
        "µs a node",
        (10_000, 100_000),
        timed(WORKS),
        target=12.0,
        growth=1.05,
    ),
    Question(
        "building-layered",
        "building and checking a layered random graph, {:,} nodes",
        "µs a node",
        (10_000, 100_000),
        timed(building_of(layered)),
        target=12.0,
        growth=1.05,
    ),
)
