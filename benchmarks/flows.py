"""The workloads on this engine, wired and run as anybody would, with default settings."""

from __future__ import annotations

from benchmarks.functions import NodeFunction, function_for, increment
from benchmarks.shapes import Shape, loop_result
from benchmarks.timing import Work
from dataflow import Flow, collect, each

__all__ = ["flow_of", "loop_flow", "map_flow", "run_flow", "run_loop", "run_map", "run_shape"]


def flow_of(shape: Shape, step: NodeFunction = increment) -> Flow:
    """Wire and check a flow of this shape, with an output for each end."""
    with Flow("shape") as flow:
        ports: list[int] = []  # a port is typed as its value
        for sources in shape.sources:
            function = step if len(sources) == 1 else function_for(len(sources))
            ports.append(flow.add(function, *[ports[source] for source in sources]).out)
        for end in shape.ends:
            flow.output(f"end_{end}", ports[end])
    return flow


def run_flow(flow: Flow, expected: int, units: int) -> Work:
    """Run the flow and add up its outputs."""

    async def run() -> int:
        return sum((await flow.run()).outputs.values())

    return Work(run, expected, units)


def run_shape(shape: Shape, step: NodeFunction = increment) -> Work:
    """Run a flow of this shape."""
    return run_flow(flow_of(shape, step), shape.result, len(shape))


def loop_flow(rounds: int) -> Flow:
    """Wire a loop of three nodes that ends after so many rounds."""
    stop = loop_result(rounds)
    with Flow("loop") as flow:
        with flow.loop(limit=None) as loop:
            number = loop.carry(0)
            head = flow.add(increment, number.out)
            middle = flow.add(increment, head.out)
            tail = flow.add(increment, middle.out)
            loop.until(tail.out, lambda reached: reached >= stop)
            number.next(tail.out)
            last = loop.result(tail.out)
        flow.output("last", last)
    return flow


def run_loop(rounds: int) -> Work:
    """Run the loop."""
    return run_flow(loop_flow(rounds), loop_result(rounds), loop_result(rounds))


def map_flow() -> Flow:
    """Wire a map over an input."""
    with Flow("map") as flow:
        items = flow.input("items", list[int])
        flow.output("added", collect(flow.add(increment, each(items)).out))
    return flow


def run_map(items: int) -> Work:
    """Run the map over so many items."""
    flow, numbers = map_flow(), list(range(items))

    async def run() -> int:
        return sum((await flow.run(items=numbers))["added"])

    return Work(run, sum(numbers) + items, items)
