"""What edges read once the loops around their ends are scopes of their own (S6.3, S6.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from dataflow.compiler.graph import CollectAction, MapAction, Terminal, Vertex
from dataflow.compiler.lifted_loops import LiftedLoop
from dataflow.compiler.reads import maps_of, raised, vertex_behind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from dataflow.compiler.graph import Graph, Input, RoundEdge
    from dataflow.compiler.reads import Around

__all__ = ["LiftedReads", "LoopsAround", "left_by"]

#: The loops around each vertex that is in one, outer ones first.
LoopsAround: TypeAlias = dict[Vertex, tuple[LiftedLoop, ...]]


@dataclass(slots=True)
class LiftedReads:
    """Tells what each edge reads; what closes maps for outputs is added to the graph.

    round_edges: the edges that say something of rounds, by port and position in it
    closing: the feedback edges that close loops, likewise
    fed: the loop that edges into a port close, by the port
    fires: the maps that each vertex fires in
    collected: what closes maps for outputs, by what it closes
    """

    graph: Graph
    round_edges: Mapping[tuple[int, int], RoundEdge]
    closing: Collection[tuple[int, int]]
    fed: Mapping[int, LiftedLoop]
    around: LoopsAround
    fires: Around
    collected: dict[Terminal, Terminal] = field(default_factory=dict)

    def changed(self, wire: Terminal, reader: Vertex | None, given: Input | None, position: int) -> Terminal:
        """Return what an edge reads once the loops are scopes."""
        one = self.round_edges.get((id(given), position))
        which = one.rounds.leave if one is not None else "last"
        inner = wire
        for loop in left_by(wire, reader, self.around):
            inner = inner if reader is not None else self._closed(wire, inner, loop)
            inner = loop.leave(inner, which)
        fed = self.fed.get(id(given))
        if fed is None or reader is None or given is None:
            return inner
        name = f"{wire.label} -> {reader.id}.{given.name}"
        read_at = reader.spot_of(given.name, given.steps)
        if (id(given), position) in self.closing:
            return fed.carry(name, wire.label, read_at, following=inner)
        source = vertex_behind(wire)
        if source is not None and fed in self.around.get(source, ()):
            return inner
        return fed.carry(name, wire.label, read_at, first=inner)

    def _closed(self, wire: Terminal, inner: Terminal, loop: LiftedLoop) -> Terminal:
        """Close the maps over edges that a loop opens around an output of the flow, inner ones first.

        What closes one is added to the graph, and to `around`, which is shared with what lifts the loops.
        """
        for opener in reversed(maps_of(wire, self.fires)):
            loops, action = self.around.get(opener, ()), opener.action
            if loops[-1:] != (loop,) or not isinstance(action, MapAction) or not action.is_every:
                continue
            if inner not in self.collected:
                label, order = f"collect({inner.label})", opener.order
                collect = Vertex("collect", order, CollectAction(inner), opener.home, opener.spot, label)
                self.graph.vertices.append(collect)
                self.around[collect] = loops
                self.collected[inner] = Terminal(collect, "out")
            inner = self.collected[inner]
        return inner


def left_by(wire: Terminal, reader: Vertex | None, around: LoopsAround) -> list[LiftedLoop]:
    """List the loops that an edge leaves, inner ones first."""
    source = vertex_behind(wire)
    if source is None or source not in around:
        return []
    stands = raised(reader, source.home)
    kept = set(around.get(stands, ()) if stands is not None else ())
    return [loop for loop in reversed(around[source]) if loop not in kept]
