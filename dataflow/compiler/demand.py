"""Demand: what is left of a flow if only its outputs are wanted, as `pull` wants one (S8.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.compiler.graph import CollectAction, Graph, LoopAction, MapAction, Scope, Terminal, Vertex
from dataflow.compiler.scoping import wires_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["prune"]


def prune(graph: Graph, ordered: list[Vertex]) -> list[Vertex]:
    """Take out of a placed graph whatever leads to none of its outputs; returns the vertices left, in order.

    What a loop needs for its rounds stays; of what leaves loops and maps only what is wanted does.
    """
    wanted: set[Terminal] = set()
    kept: set[Vertex] = set()
    todo = [*graph.outputs.values()]
    while todo:
        terminal = todo.pop()
        if terminal in wanted:
            continue
        wanted.add(terminal)
        owner = terminal.owner
        todo.extend(_left_from(terminal))
        vertex = owner.owner if isinstance(owner, Scope) else owner
        if isinstance(vertex, Vertex) and vertex not in kept:
            kept.add(vertex)
            todo.extend(_behind(vertex))
    for vertex in kept:
        _drop_outputs(vertex, wanted)
    graph.vertices = [vertex for vertex in graph.vertices if vertex in kept]
    return [vertex for vertex in ordered if vertex in kept]


def _behind(vertex: Vertex) -> Iterator[Terminal]:
    """Go through what a vertex needs, and what opens the scope it fires in."""
    yield from wires_of(vertex)
    opener = vertex.fires_in.owner
    if opener is not None:
        yield Terminal(opener, "")
    if isinstance(vertex.action, LoopAction):
        yield from vertex.action.nexts.values()
        if vertex.action.test_wire is not None:
            yield vertex.action.test_wire


def _left_from(terminal: Terminal) -> Iterator[Terminal]:
    """Go from what leaves a loop or map to where it comes from."""
    owner, port = terminal
    if not isinstance(owner, Vertex):
        return
    match owner.action:
        case LoopAction(results=wires) | MapAction(collects=wires):
            if port in wires:
                yield wires[port]
        case CollectAction(output=Terminal() as output):
            yield output
        case _:
            return


def _drop_outputs(vertex: Vertex, wanted: set[Terminal]) -> None:
    match vertex.action:
        case LoopAction(results=wires) | MapAction(collects=wires):
            for name in [name for name in wires if Terminal(vertex, name) not in wanted]:
                del wires[name]
        case _:
            return
