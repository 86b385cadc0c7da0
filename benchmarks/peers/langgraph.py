"""LangGraph: a StateGraph without a checkpointer. Its faster, synchronous `invoke`; `ainvoke` for sleepers.

A chain and a loop have one number as their state. Other shapes have a dict of all values, which is merged in
place: the cheapest state that can hold them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Final, TypedDict

from langgraph.graph import END, START, StateGraph

from benchmarks.peers.playing import building, in_async, play
from benchmarks.shapes import SLEEP, Shape, diamonds, fan_out, join_of, layered, loop_result
from benchmarks.timing import Work, whole

NO_LIMIT: Final = {"recursion_limit": 1_000_000_000}
Values = dict[int, int]


def merge(left: Values, right: Values) -> Values:
    """Put the values of a node to the others."""
    if not left:
        return dict(right)
    left.update(right)
    return left


class Number(TypedDict):
    """The state of a chain."""

    number: int


class Graph(TypedDict):
    """The state of other shapes."""

    values: Annotated[Values, merge]


def increment(state: Number) -> Number:
    """Add 1."""
    return {"number": state["number"] + 1}


def joining(node: int, sources: tuple[int, ...]) -> Callable[[Graph], Graph]:
    """Make the function of a node."""

    def join(state: Graph) -> Graph:
        return {"values": {node: join_of([state["values"][source] for source in sources])}}

    return join


def napping(node: int, sources: tuple[int, ...]) -> Callable[[Graph], Any]:
    """Make the function of a node that sleeps if it reads a single one."""
    join = joining(node, sources)

    async def nap(state: Graph) -> Graph:
        if len(sources) == 1:
            await asyncio.sleep(SLEEP)
        return join(state)

    return nap


def build_chain(nodes: int) -> Any:
    """Build a chain."""
    builder = StateGraph(Number)
    for node in range(nodes):
        builder.add_node(f"n{node}", increment)
        builder.add_edge(f"n{node - 1}" if node else START, f"n{node}")
    builder.add_edge(f"n{nodes - 1}", END)
    return builder.compile()


def build_loop(rounds: int) -> Any:
    """Build a loop of three nodes."""
    stop = loop_result(rounds)
    builder = StateGraph(Number)
    for source, node in ((START, "head"), ("head", "middle"), ("middle", "tail")):
        builder.add_node(node, increment)
        builder.add_edge(source, node)
    builder.add_conditional_edges(
        "tail", lambda state: END if state["number"] >= stop else "head", ["head", END]
    )
    return builder.compile()


def build_shape(shape: Shape, function_of: Callable[[int, tuple[int, ...]], Callable[[Graph], Any]]) -> Any:
    """Build any other shape."""
    builder = StateGraph(Graph)
    for node, sources in enumerate(shape.sources):
        builder.add_node(f"n{node}", function_of(node, sources))
        names = [f"n{source}" for source in sources]
        builder.add_edge(names if len(names) > 1 else names[0] if names else START, f"n{node}")
    for end in shape.ends:
        builder.add_edge(f"n{end}", END)
    return builder.compile()


def counting(graph: Any, expected: int, units: int) -> Work:
    """Run a chain or a loop."""
    return Work(in_async(lambda: graph.invoke({"number": 0}, NO_LIMIT)["number"]), expected, units)


def shaped(shape: Shape) -> Work:
    """Run a shape."""
    graph = build_shape(shape, joining)

    def run() -> int:
        values = graph.invoke({"values": {}}, NO_LIMIT)["values"]
        return sum(values[end] for end in shape.ends)

    return Work(in_async(run), shape.result, len(shape))


def sleeping(width: int) -> Work:
    """Run nodes that sleep."""
    shape = fan_out(width)
    graph = build_shape(shape, napping)

    async def run() -> int:
        values = (await graph.ainvoke({"values": {}}, NO_LIMIT))["values"]
        return sum(values[end] for end in shape.ends)

    return Work(run, shape.result, len(shape))


def chained(nodes: int) -> Work:
    """Run a chain."""
    return counting(build_chain(nodes), nodes, nodes)


WORKS = {
    "chain": chained,
    "fan-out": lambda size: shaped(fan_out(size)),
    "layered": lambda size: shaped(layered(size)),
    "diamonds": lambda size: shaped(diamonds(size)),
    "loop": lambda rounds: counting(build_loop(rounds), loop_result(rounds), loop_result(rounds)),
    "sleepers": sleeping,
    "fixed": lambda nodes: whole(chained(nodes)),
    "building": lambda nodes: building(partial(build_chain, nodes), nodes),
}

if __name__ == "__main__":
    play(WORKS)
