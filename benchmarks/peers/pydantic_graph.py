"""pydantic-graph: steps of a GraphBuilder. A join belongs to one fork: it cannot have the random graph."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

from pydantic_graph import GraphBuilder, StepContext

from benchmarks.peers.playing import building, play
from benchmarks.shapes import MODULUS, SLEEP, diamonds, fan_out, loop_result
from benchmarks.timing import Work, whole

Context: TypeAlias = StepContext[None, None, int]


async def start(context: Context) -> int:
    """Begin a graph."""
    return 1


async def increment(context: Context) -> int:
    """Add 1."""
    value: int = context.inputs
    return value + 1


async def nap(context: Context) -> int:
    """Sleep for a while and add 1."""
    await asyncio.sleep(SLEEP)
    value: int = context.inputs
    return value + 1


def add(total: int, value: int) -> int:
    """Join one more."""
    return (total + value) % MODULUS


def build_chain(nodes: int) -> Any:
    """Build a chain."""
    graph = GraphBuilder(input_type=int, output_type=int)
    steps = [graph.step(increment, node_id=f"n{node}") for node in range(nodes)]
    joined = [graph.edge_from(one).to(other) for one, other in pairwise(steps)]
    graph.add(
        graph.edge_from(graph.start_node).to(steps[0]), *joined, graph.edge_from(steps[-1]).to(graph.end_node)
    )
    return graph.build()


def build_fan_out(step: Callable[[Context], Any], width: int) -> Any:
    """Build a fan-out and join."""
    graph = GraphBuilder(input_type=int, output_type=int)
    first = graph.step(start, node_id="start")
    steps = [graph.step(step, node_id=f"n{node}") for node in range(width)]
    join = graph.join(add, initial=0, node_id="join")
    graph.add(
        graph.edge_from(graph.start_node).to(first),
        graph.edge_from(first).to(*steps),
        *[graph.edge_from(one).to(join) for one in steps],
        graph.edge_from(join).to(graph.end_node),
    )
    return graph.build()


def build_diamonds(count: int) -> Any:
    """Build diamonds in series."""
    graph = GraphBuilder(input_type=int, output_type=int)
    top: Any = graph.step(start, node_id="start")
    graph.add(graph.edge_from(graph.start_node).to(top))
    for number in range(count):
        left, right = (graph.step(increment, node_id=f"{side}{number}") for side in ("left", "right"))
        join = graph.join(add, initial=0, node_id=f"join{number}", preferred_parent_fork="closest")
        graph.add(graph.edge_from(top).to(left, right))
        graph.add(graph.edge_from(left).to(join), graph.edge_from(right).to(join))
        top = join
    graph.add(graph.edge_from(top).to(graph.end_node))
    return graph.build()


def build_loop(rounds: int) -> Any:
    """Build a loop of three steps."""
    graph = GraphBuilder(input_type=int, output_type=int)
    head, middle, tail = (graph.step(increment, node_id=name) for name in ("head", "middle", "tail"))
    stop = loop_result(rounds)
    ends = graph.match(int, matches=lambda value: value >= stop).to(graph.end_node)
    decision = graph.decision().branch(ends).branch(graph.match(int).to(head))
    graph.add(
        graph.edge_from(graph.start_node).to(head),
        graph.edge_from(head).to(middle),
        graph.edge_from(middle).to(tail),
        graph.edge_from(tail).to(decision),
    )
    return graph.build()


def running(graph: Any, expected: int, units: int) -> Work:
    """Run a graph."""
    return Work(partial(graph.run, inputs=0), expected, units)


def fanned(step: Callable[[Context], Any], width: int) -> Work:
    """Run a fan-out and join."""
    shape = fan_out(width)
    return running(build_fan_out(step, width), shape.result, len(shape))


def chained(nodes: int) -> Work:
    """Run a chain."""
    return running(build_chain(nodes), nodes, nodes)


WORKS: dict[str, Callable[[int], Work]] = {
    "chain": chained,
    "fan-out": partial(fanned, increment),
    "diamonds": lambda count: running(build_diamonds(count), diamonds(count).result, len(diamonds(count))),
    "loop": lambda rounds: running(build_loop(rounds), loop_result(rounds), loop_result(rounds)),
    "sleepers": partial(fanned, nap),
    "fixed": lambda nodes: whole(chained(nodes)),
    "building": lambda nodes: building(partial(build_chain, nodes), nodes),
}

if __name__ == "__main__":
    sys.setrecursionlimit(1_000_000)  # it recurses over the graph
    play(WORKS)
