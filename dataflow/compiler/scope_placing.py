"""Which scope each vertex fires in (S2, S7.1)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from dataflow.compiler.crossing import Crossing
from dataflow.compiler.graph import (
    CollectAction,
    Constant,
    Graph,
    LoopAction,
    MapAction,
    Scope,
    ScopeKind,
    Terminal,
    Vertex,
)
from dataflow.compiler.map_edges import common_scope, nearest_to_all, outside_of_edges
from dataflow.compiler.scoping import body_of, scope_of, wires_of, wires_within

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["place"]


def place(graph: Graph, ordered: list[Vertex]) -> None:
    """Give each vertex the innermost scope of what it reads; `ordered` comes from `in_order`."""
    if graph.is_flat:
        for vertex in ordered:
            vertex.scope = graph.root
        return
    crossing = Crossing()
    entering = _entering(ordered, crossing)
    for vertex in ordered:
        if isinstance(vertex.action, MapAction) and vertex.action.is_every:
            vertex.scope = nearest_to_all(vertex)
            continue
        wires = [(scope_of(wire), wire) for wire in wires_of(vertex)]
        if isinstance(vertex.action, LoopAction | MapAction):
            wires += _read_within(vertex, entering.get(vertex, {}), crossing)
        vertex.scope = _innermost(graph, vertex, wires)
        if isinstance(vertex.action, CollectAction):
            _close(graph, vertex, vertex.action)
    graph.outputs = {name: outside_of_edges(wire) for name, wire in graph.outputs.items()}


def _entering(ordered: Sequence[Vertex], crossing: Crossing) -> dict[Vertex, dict[Vertex, list[Terminal]]]:
    """List by loop or map in block form, and by reader, the edges into its body that begin outside of it."""
    entering: dict[Vertex, dict[Vertex, list[Terminal]]] = defaultdict(lambda: defaultdict(list))
    for vertex in ordered:
        for wire in wires_of(vertex):
            begin, home = _declared_in(wire), vertex.home
            if begin is None:
                continue
            around = crossing.around(begin)
            while home.owner is not None and home not in around:
                entering[home.owner][vertex].append(wire)
                home = home.owner.home
    return entering


def _declared_in(wire: Terminal) -> Scope | None:
    """Return the block that an edge begins in, also if that is a parameter of it; None for a constant."""
    owner = wire.owner
    if isinstance(owner, Constant):
        return None
    return owner.home if isinstance(owner, Vertex) else owner


def _read_within(
    opener: Vertex, entering: Mapping[Vertex, Sequence[Terminal]], crossing: Crossing
) -> Iterator[tuple[Scope | None, Terminal]]:
    """List what the body of a loop or map in block form reads from outside, with the scope that it is in.

    A map over edges in it is in the maps that all its edges are in; the others give it lists (S7.4).
    """
    for vertex, wires in entering.items():
        outside = [wire for wire in wires if not _is_inside(wire, opener, crossing)]
        if not isinstance(vertex.action, MapAction) or not vertex.action.is_every:
            yield from ((scope_of(wire), wire) for wire in outside)
        elif len(outside) == len(list(wires_of(vertex))):
            scopes = [scope for wire in outside if (scope := scope_of(wire)) is not None]
            yield common_scope(scopes), outside[0]
    for wire in wires_within(opener):
        if not _is_inside(wire, opener, crossing):
            yield scope_of(wire), wire


def _is_inside(wire: Terminal, opener: Vertex, crossing: Crossing) -> bool:
    """Tell whether a wire begins inside the body of a loop or map in block form."""
    body, scope = body_of(opener), scope_of(wire)
    if scope is None:
        return True  # a constant, or a vertex of the body, which is placed after its owner
    if scope is body or scope.owner is None:
        return scope is body
    return body in crossing.around(scope.owner.home)


def _innermost(graph: Graph, vertex: Vertex, wires: list[tuple[Scope | None, Terminal]]) -> Scope:
    """Find the innermost scope; two scopes neither inside the other are a problem (S7.1)."""
    found, why, is_told = vertex.home, "", False
    for scope, wire in wires:
        if scope is None or scope is found or scope in found.around():
            continue
        if found in scope.around():
            found, why = scope, wire.label
            continue
        if vertex in graph.circling:  # so may be what opens the scope, and that is told
            continue
        if vertex.home not in scope.around():  # the loop or map around reads it too, and is told of
            assert graph.problems, "what is around is placed first"
            continue
        if not is_told:
            graph.problem(
                f"{vertex.kind} {vertex.id!r} reads two maps neither inside the other: {why} and "
                f"{wire.label}; collect one of them first",
                vertex.spot,
            )
        is_told = True
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
