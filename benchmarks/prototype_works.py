"""The workloads on the prototype."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.functions import NodeFunction, add_all, function_for, increment
from benchmarks.prototype import Graph
from benchmarks.prototype_run import Plan
from benchmarks.shapes import Shape, loop_result
from benchmarks.timing import Work

__all__ = ["graph_of", "prototype_loop", "prototype_of"]

PORTS = ("first", "second", "third")


def graph_of(shape: Shape, step: NodeFunction = increment) -> Graph:
    """Wire a shape."""
    graph = Graph()
    for node, sources in enumerate(shape.sources):
        function = step if len(sources) == 1 else function_for(len(sources))
        graph.add(f"n{node}", function)
        match sources:
            case [source]:
                graph.connect(f"n{source}", f"n{node}.number")
            case _ if function is add_all:
                for source in sources:
                    graph.connect(f"n{source}", f"n{node}.numbers")
            case _:
                for source, port in zip(sources, PORTS, strict=False):
                    graph.connect(f"n{source}", f"n{node}.{port}")
    return graph


@dataclass(slots=True)
class Counter:
    """A listener that counts."""

    events: int = field(default=0)

    def hear(self, _what: str, _node: int) -> None:
        """Hear that a node starts or ends."""
        self.events += 1


def prototype_of(
    shape: Shape, step: NodeFunction = increment, *, limit: float = float("inf"), listen: bool = False
) -> Work:
    """Run a shape; with `listen` something counts what happens."""
    plan = graph_of(shape, step).compile()
    ends = [f"n{end}" for end in shape.ends]
    trace = Counter().hear if listen else None

    async def run() -> int:
        run = await plan.run(limit=limit, trace=trace)
        return sum([run[end] for end in ends])

    return Work(run, shape.result, len(shape))


def prototype_loop(rounds: int) -> Work:
    """Run a loop of three nodes."""
    plan, result = _loop(loop_result(rounds)), loop_result(rounds)

    async def run() -> object:
        return (await plan.run())["tail.done"]

    return Work(run, result, result)


def _loop(stop: int) -> Plan:
    async def zero() -> int:
        return 0

    async def tail(number: int) -> dict[str, int]:
        return {"again": number + 1} if number + 1 < stop else {"done": number + 1}

    graph = Graph()
    graph.add("zero", zero)
    graph.add("head", increment)
    graph.add("middle", increment)
    graph.add("tail", tail, ("again", "done"))
    for source, target in (
        ("zero", "head.number"),
        ("head", "middle.number"),
        ("middle", "tail.number"),
        ("tail.again", "head.number"),
    ):
        graph.connect(source, target)
    return graph.compile()
