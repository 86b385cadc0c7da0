"""Compiling: wiring becomes a plan, or one error with every problem (S1.7)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dataflow.checks import check
from dataflow.demand import prune
from dataflow.errors import FlowInvalid, listed
from dataflow.functions import import_function
from dataflow.layout import lay_out
from dataflow.packs import find_type
from dataflow.resolve import resolve
from dataflow.scoping import in_order, place

if TYPE_CHECKING:
    from dataflow.graph import Graph, Vertex
    from dataflow.lookup import FindFunction, FindType
    from dataflow.plan import FlowPlan
    from dataflow.wiring import Source, Wiring

__all__ = ["PULLED", "compile_flow", "examine"]

#: What the output is called that is made of a pulled port.
PULLED: Final = "$pulled"


def examine(
    wiring: Wiring, find_type: FindType = find_type, find_function: FindFunction = import_function
) -> tuple[Graph, list[Vertex]]:
    """Look up, place and check a whole flow; the problems found are in the graph."""
    graph = resolve(wiring, find_type, find_function)
    ordered = in_order(graph)
    place(graph, ordered)
    check(graph, ordered)
    return graph, ordered


def compile_flow(
    wiring: Wiring,
    find_type: FindType = find_type,
    find_function: FindFunction = import_function,
    *,
    pulled: Source | None = None,
) -> FlowPlan:
    """Compile a flow, or what one source of its root needs, which is then the output PULLED (S8.1).

    Raises FlowInvalid with all problems of the whole flow.
    """
    if pulled is not None:
        wiring = replace(
            wiring, block=replace(wiring.block, outputs={**wiring.block.outputs, PULLED: pulled})
        )
    graph, ordered = examine(wiring, find_type, find_function)
    if not graph.problems and graph.opaque:
        names = list(dict.fromkeys(graph.opaque))
        graph.problems.append(
            f"these were not looked into, so the flow cannot run: {listed(names, len(names))}"
        )
    if graph.problems:
        raise FlowInvalid(wiring.name, list(dict.fromkeys(graph.problems)))
    if pulled is not None:
        graph.outputs = {PULLED: graph.outputs[PULLED]}
        ordered = prune(graph, ordered)
    return lay_out(graph, ordered)
