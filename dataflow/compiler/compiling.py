"""Compiling: wiring becomes a plan, or one error with every problem (S1.7)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from dataflow.base.wording import listed, on_one_line
from dataflow.compiler.checks import check
from dataflow.compiler.demand import prune
from dataflow.compiler.layout import lay_out
from dataflow.compiler.lift import lift
from dataflow.compiler.own_lists import find_own_lists
from dataflow.compiler.resolve import resolve
from dataflow.compiler.scope_placing import place
from dataflow.compiler.scoping import in_order
from dataflow.compiler.showing import show_lifted
from dataflow.core.functions import import_function
from dataflow.errors import FlowInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.compiler.graph import Graph, Vertex
    from dataflow.compiler.lookup import FindFunction, FindType
    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.ports import OutPort
    from dataflow.core.wiring import Source, Wiring

__all__ = ["Compiled", "Pulled", "compile_flow", "compile_whole", "examine"]

PULLED: Final = "$pulled"  # no output of a flow has this name


class Pulled(NamedTuple):
    """The one source that is wanted of a flow, and what the output is called that is made of it."""

    name: str
    source: Source


class Compiled(NamedTuple):
    """What a whole flow comes to: its outputs as a flow around it sees them, and its plan."""

    name: str
    ports: Mapping[str, OutPort]
    opaque: Sequence[str]  # what was not looked into
    laid_out: FlowPlan | None  # None if something was not

    @property
    def plan(self) -> FlowPlan:
        """The plan; raises FlowInvalid for a flow that cannot run."""
        if self.laid_out is None:
            raise FlowInvalid(self.name, [_not_looked_into(self.opaque)])
        return self.laid_out


def examine(
    wiring: Wiring, find_type: FindType, find_function: FindFunction = import_function
) -> tuple[Graph, list[Vertex]]:
    """Look up, place and check a whole flow; the problems found are in the graph."""
    graph = resolve(wiring, find_type, find_function)
    if graph.round_edges:
        lift(graph)
    ordered = in_order(graph)
    place(graph, ordered)
    find_own_lists(graph, ordered)
    check(graph, ordered)
    return graph, ordered


def compile_whole(
    wiring: Wiring, find_type: FindType, find_function: FindFunction = import_function
) -> Compiled:
    """Compile a flow as far as it may be looked into; raises FlowInvalid with all its problems."""
    graph, ordered = examine(wiring, find_type, find_function)
    _refuse(graph)
    laid_out = None if graph.opaque else _laid_out(graph, ordered)
    return Compiled(wiring.name, graph.output_ports, tuple(graph.opaque), laid_out)


def compile_flow(
    wiring: Wiring,
    find_type: FindType,
    find_function: FindFunction = import_function,
    *,
    pulled: Pulled | None = None,
) -> FlowPlan:
    """Compile a flow, or what one source of its root needs, which is then its only output (S8.1).

    Raises FlowInvalid with all problems of the whole flow.
    """
    if pulled is None:
        return compile_whole(wiring, find_type, find_function).plan
    outputs = {**wiring.block.outputs, PULLED: pulled.source}
    wiring = replace(wiring, block=replace(wiring.block, outputs=outputs))
    graph, ordered = examine(wiring, find_type, find_function)
    _refuse(graph)
    if graph.opaque:
        raise FlowInvalid(wiring.name, [_not_looked_into(graph.opaque)])
    graph.outputs = {pulled.name: graph.outputs[PULLED]}
    return lay_out(graph, prune(graph, ordered))


def _refuse(graph: Graph) -> None:
    if graph.problems:
        raise FlowInvalid(graph.wiring.name, graph.problems_in_order)


def _not_looked_into(opaque: Sequence[str]) -> str:
    names = list(dict.fromkeys(opaque))
    return on_one_line(f"these were not looked into, so the flow cannot run: {listed(names, len(names))}")


def _laid_out(graph: Graph, ordered: list[Vertex]) -> FlowPlan:
    if graph.round_edges:
        show_lifted(graph)
    return lay_out(graph, ordered)
