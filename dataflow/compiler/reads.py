"""Reads: who reads whom in a graph, and which maps of `each` and `every` each vertex is in (S2, S7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from dataflow.compiler.graph import CollectAction, LoopAction, MapAction, Scope, Vertex
from dataflow.compiler.scoping import wires_of, wires_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from dataflow.compiler.graph import Graph, Input, Terminal

__all__ = ["Around", "maps_around", "maps_of", "raised", "reads_between", "rewire", "vertex_behind"]

#: Of each vertex the maps that it is in, outer ones first.
Around: TypeAlias = "dict[Vertex, dict[Vertex, None]]"


def vertex_behind(wire: Terminal) -> Vertex | None:
    """Return what an edge begins at, or what has opened the scope whose parameter it reads."""
    owner = wire.owner
    if isinstance(owner, Scope):
        return owner.owner
    return owner if isinstance(owner, Vertex) else None


def raised(reader: Vertex | None, home: Scope) -> Vertex | None:
    """Return what stands for a reader in a block around it; None if it is not inside that block."""
    while reader is not None and reader.home is not home:
        reader = reader.home.owner
    return reader


def reads_between(graph: Graph, is_left_out: Callable[[Input, int], bool]) -> Iterator[tuple[Vertex, Vertex]]:
    """Yield each pair of vertices of one block the second of which, or what is inside it, reads the first."""
    for reader in graph.vertices:
        wires = [
            wire for given in reader.inputs.values()
            for position, wire in enumerate(given.wires) if not is_left_out(given, position)
        ]  # fmt: skip
        if isinstance(reader.action, CollectAction):
            wires.append(reader.action.source)
        for wire in (*wires, *wires_within(reader)):
            source = vertex_behind(wire)
            above = None if source is None else raised(reader, source.home)
            if source is not None and above is not None and above is not source:
                yield source, above


def maps_around(ordered: Iterable[Vertex]) -> tuple[Around, Around]:
    """Tell in which maps each vertex fires, and in which it reads; a collect is outside of what it reads.

    A map over edges is in those that all its edges are in: one from a deeper map brings the values of all
    frames of it (S7.4). Sources come before their readers.
    """
    fires: Around = {}
    reads: Around = {}
    for vertex in ordered:
        brought = [maps_of(wire, fires) for wire in wires_of(vertex)]
        found: dict[Vertex, None] = {}
        if isinstance(vertex.action, MapAction) and vertex.action.is_every:
            found |= {opener: None for opener in brought[0] if all(opener in maps for maps in brought)}
        else:
            for maps in brought:
                found |= maps
        reads[vertex] = dict(found)
        if isinstance(vertex.action, CollectAction) and found:
            found.popitem()
        fires[vertex] = found
    return fires, reads


def maps_of(wire: Terminal, fires: Around) -> dict[Vertex, None]:
    """Tell in which maps an edge begins."""
    source = vertex_behind(wire)
    if source is None:
        return {}
    maps = fires.get(source, {})
    is_item = isinstance(source.action, MapAction) and wire.owner is source.action.scope
    return {**maps, source: None} if is_item else maps


def rewire(graph: Graph, change: Callable[[Terminal, Vertex | None, Input | None, int], Terminal]) -> None:
    """Replace every edge of a graph by what is returned for it, its reader, its port and its position there.

    What leaves a block is read by the block, what is an output of the flow by nobody.
    """
    for vertex in graph.vertices:
        for given in vertex.inputs.values():
            given.wires = [change(wire, vertex, given, number) for number, wire in enumerate(given.wires)]
        match vertex.action:
            case CollectAction() as collect:
                collect.source = change(collect.source, vertex, None, 0)
            case LoopAction() as loop:
                if loop.test_wire is not None:
                    loop.test_wire = change(loop.test_wire, vertex, None, 0)
                for wires in (loop.nexts, loop.results):
                    wires.update({name: change(wire, vertex, None, 0) for name, wire in wires.items()})
            case MapAction(collects=collects):
                collects.update({name: change(wire, vertex, None, 0) for name, wire in collects.items()})
            case _:
                pass
    graph.outputs = {name: change(wire, None, None, 0) for name, wire in graph.outputs.items()}
