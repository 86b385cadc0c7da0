"""The static check of addresses: no two nodes of a flow stand under one path (S2.2)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from dataflow.compiler.graph import CallAction, JoinAction, names_scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow.compiler.graph import Graph, Scope, Vertex

__all__ = ["check_addresses"]


def check_addresses(graph: Graph) -> None:
    """Refuse a node with the path of one inside the flow node that its map or loop is named after.

    Ids differ along nested blocks; only a flow has ids of its own.
    """
    naming = [(vertex, scopes) for vertex in graph.vertices if (scopes := list(_named_after(vertex)))]
    if not naming:
        return
    members: dict[Scope, list[Vertex]] = defaultdict(list)
    for vertex in graph.vertices:
        if vertex.scope is not None and not isinstance(vertex.action, JoinAction):
            members[vertex.scope].append(vertex)
    for named, scopes in naming:
        assert isinstance(named.action, CallAction), "a flow node"
        assert named.action.type.flow is not None, "as above"
        taken = named.action.type.flow.wiring.block.nodes.keys() - {named.id}
        for scope, vertex in ((at, one) for at in scopes for one in members[at] if one.id in taken):
            graph.problem(
                f"node {vertex.id!r} in the {scope.kind.value} of {named.id!r} would have the path of the "
                f"node of that name inside flow {named.id!r}; give one of them another name",
                vertex.spot,
            )


def _named_after(vertex: Vertex) -> Iterator[Scope]:
    """Go outwards through the maps and loops that are named after a flow node."""
    if isinstance(vertex.action, CallAction) and vertex.action.type.flow is not None:
        scope = vertex.scope
        while scope is not None and names_scope(vertex, scope.owner):
            yield scope
            scope = scope.owner.scope if scope.owner is not None else None
