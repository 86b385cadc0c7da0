"""Compiling: wiring becomes a plan, or one error with every problem (S1.7)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from dataflow.checks import check
from dataflow.demand import prune
from dataflow.errors import FlowInvalid
from dataflow.functions import import_function
from dataflow.layout import lay_out
from dataflow.lift import lift
from dataflow.resolve import resolve
from dataflow.scoping import in_order, place
from dataflow.showing import show_lifted
from dataflow.wording import listed

if TYPE_CHECKING:
    from dataflow.graph import Graph, Vertex
    from dataflow.lookup import FindFunction, FindType
    from dataflow.plan import FlowPlan
    from dataflow.wiring import Source, Wiring

__all__ = ["Pulled", "compile_flow", "examine"]

PULLED: Final = "$pulled"  # no output of a flow has this name


class Pulled(NamedTuple):
    """The one source that is wanted of a flow, and what the output is called that is made of it."""

    name: str
    source: Source


def examine(
    wiring: Wiring, find_type: FindType, find_function: FindFunction = import_function
) -> tuple[Graph, list[Vertex]]:
    """Look up, place and check a whole flow; the problems found are in the graph."""
    graph = resolve(wiring, find_type, find_function)
    if graph.round_edges:
        lift(graph)
    ordered = in_order(graph)
    place(graph, ordered)
    check(graph, ordered)
    return graph, ordered


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
    if pulled is not None:
        outputs = {**wiring.block.outputs, PULLED: pulled.source}
        wiring = replace(wiring, block=replace(wiring.block, outputs=outputs))
    graph, ordered = examine(wiring, find_type, find_function)
    if not graph.problems and graph.opaque:
        names = list(dict.fromkeys(graph.opaque))
        graph.problems.append(
            f"these were not looked into, so the flow cannot run: {listed(names, len(names))}"
        )
    if graph.problems:
        raise FlowInvalid(wiring.name, graph.problems_in_order)
    if pulled is not None:
        graph.outputs = {pulled.name: graph.outputs[PULLED]}
        ordered = prune(graph, ordered)
    elif graph.round_edges:
        show_lifted(graph)
    return lay_out(graph, ordered)
