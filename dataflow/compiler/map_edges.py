"""Edges that leave maps: they become outputs of these, lists or what maps over edges go over (S7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.compiler.graph import MapAction, ScopeKind, Terminal
from dataflow.compiler.scoping import scope_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.compiler.graph import Scope, Vertex

__all__ = ["common_scope", "nearest_to_all", "outside_of_edges"]


def common_scope(scopes: Sequence[Scope]) -> Scope:
    """Find the nearest scope that is around all of these."""
    return next(scope for scope in scopes[0].around() if all(scope in other.around() for other in scopes))


def nearest_to_all(vertex: Vertex) -> Scope:
    """Find the nearest scope common to all edges that a map goes over (S7.4).

    An edge from a deeper map becomes an output of that map, and of those around it: a list with indexes. So
    does one from a map outside of the block, unless the block is in that map too.
    """
    given, home = next(iter(vertex.inputs.values())), vertex.home
    around = set(home.around())
    brought = [_brought(home, around, wire) for wire in given.wires]
    common = common_scope([scope for scope, _ in brought])
    given.wires = [_led_to(common, scope, wire) for scope, wire in brought]
    return common


def _brought(home: Scope, around: set[Scope], wire: Terminal) -> tuple[Scope, Terminal]:
    """Lead an edge to where a block can read it: what comes from around is as if it were made there."""
    scope = scope_of(wire)
    if scope is None or scope in around:
        return home, wire
    if home in scope.around():
        return scope, wire
    nearest = next((outer for outer in scope.around() if outer in around), scope)  # none in a cycle
    return home, _led_to(nearest, scope, wire)


def _led_to(common: Scope, scope: Scope, wire: Terminal) -> Terminal:
    """Lead an edge out of the maps around it, up to a scope."""
    name = f"arrivals({wire.label})"
    while scope is not common:
        owner = _map_of(scope)
        wire, scope = _leave(owner, wire, name, indexed=True), owner.fires_in
    return wire


def outside_of_edges(wire: Terminal) -> Terminal:
    """Close the maps over edges around an output of the flow, as `collect` would; no other map (S7.4)."""
    closed, scope, label = wire, scope_of(wire), wire.label
    while scope is not None and scope.kind is ScopeKind.MAP:
        owner = _map_of(scope)
        assert isinstance(owner.action, MapAction), "a map's scope is owned by a map"
        if not owner.action.is_every:
            return wire
        label = f"collect({label})"
        closed, scope = _leave(owner, closed, label), owner.scope
    return closed


def _map_of(scope: Scope) -> Vertex:
    assert scope.owner is not None, "the root is no map"
    return scope.owner


def _leave(owner: Vertex, wire: Terminal, name: str, *, indexed: bool = False) -> Terminal:
    """Make what an edge brings in each frame of a map an output of the map, unless it is one already."""
    assert isinstance(owner.action, MapAction), "only maps are left with lists"
    collects, action = owner.action.collects, owner.action
    known = (one for one, source in collects.items() if source == wire and (one in action.indexed) is indexed)
    if (found := next(known, None)) is not None:
        return Terminal(owner, found)
    free = name if name not in collects else f"{name} {len(collects)}"
    collects[free] = wire
    if indexed:
        action.indexed.add(free)
    return Terminal(owner, free)
