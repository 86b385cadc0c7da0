"""Maps around and inside lifted loops: what contradicts itself is a problem, in words (S6.3, S7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.compiler.graph import CollectAction, MapAction, Scope
from dataflow.compiler.reads import maps_of, raised, vertex_behind
from dataflow.compiler.scoping import body_of, wires_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from dataflow.compiler.graph import Graph, RoundEdge, Terminal, Vertex
    from dataflow.compiler.lifted_loops import LiftedLoop
    from dataflow.compiler.reads import Around

    Loops: TypeAlias = Mapping[Vertex, Sequence[LiftedLoop]]

__all__ = ["is_item", "refuse_beside", "refuse_items"]


def is_item(wire: Terminal) -> bool:
    """Tell whether an edge begins at an item of a map."""
    owner = wire.owner
    return isinstance(owner, Scope) and owner.owner is not None and isinstance(owner.owner.action, MapAction)


def refuse_items(graph: Graph, closing: Iterable[RoundEdge], fed: Mapping[int, LiftedLoop]) -> None:
    """Refuse a feedback edge into a port that takes one value and has an item in each round anyway."""
    for one in closing:
        if one.given.port is None or one.given.port.many:
            continue
        loop = fed[id(one.given)]
        for wire in one.given.wires:
            opener = vertex_behind(wire)
            if is_item(wire) and opener is not None and opener not in loop.maps:
                told = f"its port takes one value, and {wire.label} brings an item to it in every round"
                hint = "so both would come from the second round on; give one of them another port"
                graph.problem(f"edge {one.edge}: {told}, {hint}", one.spot)


def refuse_beside(graph: Graph, ordered: Sequence[Vertex], around: Loops, fires: Around) -> set[LiftedLoop]:
    """Refuse maps that are read both in a loop, which opens them in each round, and beside it.

    Returns the loops that cannot be, of each of which that is told once.
    """
    told: dict[LiftedLoop, tuple[str, Vertex]] = {}
    for vertex, wire, loop, opener in _apart(ordered, around, fires):
        scope, is_inside = body_of(opener), loop in around.get(vertex, ())
        assert scope is not None, "it is a map"
        reader = vertex.spot.label if vertex.read_at is not None else f"{vertex.kind} {vertex.id!r}"
        opened = f"the loop {loop.head.id!r}, which opens {scope.label} in each round"
        if is_inside:
            hint = f"{wire.label} is beside it; read each(collect({wire.label})) instead"
            text = f"{reader} reads {wire.label} in {opened}, and {hint}"
        else:
            hint = "in the loop go over another list, as one that is collected beside it"
            text = f"{reader} reads {wire.label} beside {opened}; {hint}"
        if loop not in told or (is_inside and loop not in around.get(told[loop][1], ())):
            told[loop] = text, vertex
    for text, vertex in told.values():
        graph.problem(text, vertex.spot)
    return set(told)


def _apart(
    ordered: Sequence[Vertex], around: Loops, fires: Around
) -> Iterator[tuple[Vertex, Terminal, LiftedLoop, Vertex]]:
    """List what reads a map from the other side of a loop that opens it: who, what, the loop, the map."""
    for vertex in ordered:
        for wire in () if isinstance(vertex.action, CollectAction) else wires_of(vertex):
            source = vertex_behind(wire)
            reader = None if source is None else raised(vertex, source.home)
            if source is None or reader is None:
                continue
            for opener in maps_of(wire, fires):
                for loop in around.get(opener, ()):
                    is_inside, is_made_inside = (loop in around.get(one, ()) for one in (reader, source))
                    if is_inside != is_made_inside and (is_inside or is_item(wire)):
                        yield reader, wire, loop, opener
