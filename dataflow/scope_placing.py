"""Which scope each vertex fires in (S2, S7.1)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from dataflow.graph import CollectAction, Graph, LoopAction, MapAction, Scope, ScopeKind, Terminal, Vertex
from dataflow.map_edges import common_scope, nearest_to_all, outside_of_edges
from dataflow.scoping import body_of, homes_of, scope_of, wires_of, wires_within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["place"]


def place(graph: Graph, ordered: list[Vertex]) -> None:
    """Give each vertex the innermost scope of what it reads; `ordered` comes from `in_order`."""
    if graph.is_flat:
        for vertex in ordered:
            vertex.scope = graph.root
        return
    bodies: dict[Vertex, list[Vertex]] = defaultdict(list)
    for vertex in ordered:
        for home in homes_of(vertex):
            if home.owner is not None:
                bodies[home.owner].append(vertex)
    around: dict[Scope, frozenset[Scope]] = {}  # the blocks around what is declared in a block
    for vertex in ordered:
        if isinstance(vertex.action, MapAction) and vertex.action.is_every:
            vertex.scope = nearest_to_all(vertex)
            continue
        wires = [(scope_of(wire), wire) for wire in wires_of(vertex)]
        if isinstance(vertex.action, LoopAction | MapAction):
            wires += _read_within(vertex, bodies.get(vertex, ()), around)
        vertex.scope = _innermost(graph, vertex, wires)
        if isinstance(vertex.action, CollectAction):
            _close(graph, vertex, vertex.action)
    graph.outputs = {name: outside_of_edges(wire) for name, wire in graph.outputs.items()}


def _read_within(
    opener: Vertex, body: Sequence[Vertex], around: dict[Scope, frozenset[Scope]]
) -> Iterator[tuple[Scope | None, Terminal]]:
    """List what the body of a loop or map in block form reads from outside, with the scope that it is in.

    A map over edges in it is in the maps that all its edges are in; the others give it lists (S7.4).
    """
    for vertex in body:
        wires = list(wires_of(vertex))
        outside = [wire for wire in wires if not _is_inside(wire, opener, around)]
        if not isinstance(vertex.action, MapAction) or not vertex.action.is_every:
            yield from ((scope_of(wire), wire) for wire in outside)
        elif len(outside) == len(wires):
            scopes = [scope for wire in wires if (scope := scope_of(wire)) is not None]
            yield common_scope(scopes), wires[0]
    for wire in wires_within(opener):
        if not _is_inside(wire, opener, around):
            yield scope_of(wire), wire


def _is_inside(wire: Terminal, opener: Vertex, around: dict[Scope, frozenset[Scope]]) -> bool:
    """Tell whether a wire begins inside the body of a loop or map in block form.

    `around` keeps which blocks are around which: many wires are asked about.
    """
    body, scope = body_of(opener), scope_of(wire)
    if scope is None:
        return True  # a constant, or a vertex of the body, which is placed after its owner
    if scope is body or scope.owner is None:
        return scope is body
    home = scope.owner.home
    if home not in around:
        around[home] = frozenset(homes_of(scope.owner))
    return body in around[home]


def _innermost(graph: Graph, vertex: Vertex, wires: list[tuple[Scope | None, Terminal]]) -> Scope:
    """Find the innermost scope; two scopes neither inside the other are a problem (S7.1)."""
    found, why = vertex.home, ""
    for scope, wire in wires:
        if scope is None or scope is found or scope in found.around():
            continue
        if found in scope.around():
            found, why = scope, wire.label
            continue
        if vertex in graph.circling:  # so may be what opens the scope, and that is told
            continue
        graph.problem(
            f"node {vertex.id!r} reads two maps neither inside the other: {why or found.kind.value} and "
            f"{wire.label}; collect one of them first",
            vertex.spot,
        )
    return found


def _close(graph: Graph, vertex: Vertex, action: CollectAction) -> None:
    """Make a collect an output of the map it closes, and put it where that map's owner is."""
    scope = scope_of(action.source)
    owner = scope.owner if scope is not None and scope.kind is ScopeKind.MAP else None
    if vertex in graph.circling:
        return  # where its source is is not known, and that is told
    if owner is None or owner.home is not vertex.home:
        graph.problem(
            f"collect({action.source.label}): the port is not inside a map opened by each in this block",
            vertex.spot,
        )
        return
    assert isinstance(owner.action, MapAction), "a map's scope is owned by a map"
    name = f"collect({action.source.label})"
    if name in owner.action.collects:
        name = f"{name} {len(owner.action.collects)}"
    owner.action.collects[name] = action.source
    action.output = Terminal(owner, name)
    vertex.scope = owner.scope
