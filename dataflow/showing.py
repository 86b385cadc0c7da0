"""Showing: what a result tells of the nodes in loops that feedback edges have made (S6.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.graph import CallAction, LoopAction, MapAction, Terminal
from dataflow.ports import PortKind
from dataflow.wiring import Reference

if TYPE_CHECKING:
    from dataflow.graph import Graph, Vertex

__all__ = ["show_lifted"]


def show_lifted(graph: Graph) -> None:
    """Let the last value of each port leave the loops around its node, for those who ask the result for it.

    What is read outside leaves them already. A node of a map in a loop is not shown, nor is a loop in a map.
    """
    for vertex in graph.vertices:
        if vertex.scope is None or not vertex.scope.is_lifted or not isinstance(vertex.action, SHOWN):
            continue
        loops = _around(graph, vertex)
        for port in _ports(vertex) if loops else ():
            wire = Terminal(vertex, port)
            for loop in loops:
                wire = _shown(loop, wire)


#: What a result is asked for.
SHOWN = (CallAction, LoopAction, MapAction)


def _ports(vertex: Vertex) -> list[str]:
    if vertex.is_lifted or (isinstance(vertex.action, MapAction) and not vertex.action.named):
        return []
    if isinstance(vertex.action, CallAction):
        ports = vertex.action.type.outputs.values()
        return [port.name for port in ports if port.kind is not PortKind.TOOLS]
    return list(vertex.output_names)


def _around(graph: Graph, vertex: Vertex) -> list[Vertex]:
    """List the loops around a vertex, inner ones first; none if there is anything else around it."""
    loops, scope = [], vertex.scope
    while scope is not None and scope.is_lifted and scope.owner is not None:
        loops.append(scope.owner)
        scope = scope.owner.scope
    return loops if scope is graph.root else []


def _shown(loop: Vertex, wire: Terminal) -> Terminal:
    action, name = loop.action, wire.label
    assert isinstance(action, LoopAction), "feedback edges make loops"
    if name not in action.results:
        action.shown[name] = wire
        action.block.body.outputs[name] = Reference(loop.id)
    return Terminal(loop, name)
