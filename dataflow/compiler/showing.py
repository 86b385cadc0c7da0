"""Showing: what a result tells of the nodes in loops that feedback edges have made (S6.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dataflow.compiler.graph import CallAction, LoopAction, MapAction, Terminal
from dataflow.core.ports import PortKind
from dataflow.core.wiring import Reference

if TYPE_CHECKING:
    from dataflow.compiler.graph import Graph, Scope, Vertex

__all__ = ["show_lifted"]


def show_lifted(graph: Graph) -> None:
    """Let the last value of each port leave the loops around its node, for those who ask the result for it.

    What is read outside leaves them already. A node of a map in a loop is not shown, nor is a loop in a map.
    """
    around: dict[Scope, list[_Shown]] = {}
    for vertex in graph.vertices:
        scope = vertex.scope
        if scope is None or not scope.is_lifted or not isinstance(vertex.action, SHOWN):
            continue
        if scope not in around:
            around[scope] = _around(graph, scope)
        for port in _ports(vertex) if around[scope] else ():
            wire = Terminal(vertex, port)
            name = wire.label  # in each of the loops
            for loop in around[scope]:
                if name not in loop.action.results:
                    loop.action.shown[name] = wire
                    loop.action.block.body.outputs[name] = loop.reference
                wire = Terminal(loop.vertex, name)


class _Shown(NamedTuple):
    """A loop out of which values are shown."""

    vertex: Vertex
    action: LoopAction
    reference: Reference


#: What a result is asked for.
SHOWN = (CallAction, LoopAction, MapAction)


def _ports(vertex: Vertex) -> list[str]:
    if vertex.is_lifted or (isinstance(vertex.action, MapAction) and not vertex.action.named):
        return []
    if isinstance(vertex.action, CallAction):
        ports = vertex.action.type.outputs.values()
        return [port.name for port in ports if port.kind is not PortKind.TOOLS]
    return list(vertex.output_names)


def _around(graph: Graph, inmost: Scope) -> list[_Shown]:
    """List the loops around what fires in a scope, inner ones first; none if something else is."""
    loops: list[_Shown] = []
    scope: Scope | None = inmost
    while scope is not None and scope.is_lifted and scope.owner is not None:
        loop = scope.owner
        assert isinstance(loop.action, LoopAction), "feedback edges make loops"
        loops.append(_Shown(loop, loop.action, Reference(loop.id)))
        scope = loop.scope
    return loops if scope is graph.root else []
