"""Find what is probably a mistake in a flow that can run: inputs and nodes that nothing reads (S1.7)."""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Final, Never, NoReturn

from dataflow.compiler.graph import CallAction
from dataflow.compiler.scopes import every_wire
from dataflow.core.signature import Shape
from dataflow.diagnostics.graphs import INPUT_UNREAD, RESULT_UNREAD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow.compiler.graph import Graph, Vertex
    from dataflow.core.nodetype import NodeType
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = ["unused"]

#: The types of outputs that carry nothing.
NOTHING: Final = (None, NoneType, NoReturn, Never)


def unused(graph: Graph) -> list[Diagnostic]:
    """Return a warning for each input and each node whose value nothing reads, in their order."""
    return [*_inputs(graph), *_nodes(graph)]


def _inputs(graph: Graph) -> Iterator[Diagnostic]:
    read = {wire.port for wire in every_wire(graph) if wire.owner is graph.root}
    for name in graph.wiring.inputs:
        if name not in read:
            yield INPUT_UNREAD(f"$in.{name}", port=name).at(graph.wiring.locate(("inputs", name)))


def _nodes(graph: Graph) -> Iterator[Diagnostic]:
    if not graph.outputs:  # everything in it is done for its effects, or read from the result
        return
    read = {wire.owner for wire in every_wire(graph)}
    for vertex in graph.vertices:
        if vertex not in read and _is_for_its_result(vertex):
            spot = vertex.spot
            yield RESULT_UNREAD(spot).at(graph.wiring.locate(spot.path))


def _is_for_its_result(vertex: Vertex) -> bool:
    """Return whether a node may be expected to have no effect other than its result."""
    action = vertex.action
    if not isinstance(action, CallAction) or action.policy.has_effect or not action.policy.is_enabled:
        return False
    node_type = action.type
    is_known = not node_type.is_opaque and node_type.flow is None and node_type.shape is not Shape.PIECES
    return is_known and _has_result(node_type)


def _has_result(node_type: NodeType) -> bool:
    """Return whether a node makes a value, and does not only pass one on."""
    return any(
        port.type not in NOTHING and (port.same_as is None or port.exit is not None)
        for port in node_type.outputs.values()
    )
