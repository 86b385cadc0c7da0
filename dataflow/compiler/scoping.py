"""Which scope each vertex fires in, and an order in which sources come before their readers (S2, S7.1)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from dataflow.base.wording import MOST_CHOICES
from dataflow.compiler.crossing import Crossing
from dataflow.compiler.graph import (
    CallAction,
    CollectAction,
    Constant,
    Graph,
    LoopAction,
    MapAction,
    Scope,
    Terminal,
    Vertex,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "body_of",
    "every_wire",
    "in_order",
    "resolved",
    "scope_of",
    "wires_of",
    "wires_within",
]


def wires_of(vertex: Vertex) -> Iterator[Terminal]:
    """Go through the edges into a vertex; a loop's tests and next values are not among them."""
    for given in vertex.inputs.values():
        yield from given.wires
    if isinstance(vertex.action, CollectAction):
        yield vertex.action.source


def every_wire(graph: Graph) -> Iterator[Terminal]:
    """Go through all edges of a graph, and what loops, maps and its outputs read."""
    yield from graph.outputs.values()
    for vertex in graph.vertices:
        for given in vertex.inputs.values():
            yield from given.wires
        match vertex.action:
            case CallAction():
                pass
            case CollectAction(source=source):
                yield source
            case MapAction(named=False, collects=collects):
                yield from collects.values()
            case _:
                yield from wires_within(vertex)


def wires_within(owner: Vertex) -> Iterator[Terminal]:
    """Go through what a loop or a map in block form reads of its body at the end of a round or item."""
    match owner.action:
        case LoopAction(test_wire=test, nexts=nexts, results=results):
            yield from [test] if test is not None else []
            yield from nexts.values()
            yield from results.values()
        case MapAction(named=True, collects=collects):
            yield from collects.values()
        case _:
            return


def body_of(owner: Vertex) -> Scope | None:
    """Return the scope that a loop or map opens; None for any other vertex."""
    match owner.action:
        case LoopAction(scope=scope) | MapAction(scope=scope):
            return scope
        case _:
            return None


def in_order(graph: Graph) -> list[Vertex]:
    """Sort the vertices so that what a vertex reads comes first; a cycle is a problem (S6.3).

    What the body of a loop or map reads from outside comes before its owner, so that the owner's scope
    can be told from it.
    """
    after: dict[Vertex, list[Vertex]] = defaultdict(list)
    waits = dict.fromkeys(graph.vertices, 0)
    crossing = Crossing()
    for vertex in graph.vertices:
        home, distant = vertex.home, []
        for given in vertex.inputs.values():
            for wire in given.wires:
                source = wire.owner
                if (
                    isinstance(source, Vertex)
                    and source.home is home
                    and isinstance(source.action, CallAction)
                ):
                    after[source].append(vertex)  # a node of the same block, as most sources are
                    waits[vertex] += 1
                else:
                    distant.append(wire)
        if distant or home.owner is not None or not isinstance(vertex.action, CallAction):
            for earlier, later in _precedences(vertex, distant, crossing):
                after[earlier].append(later)
                waits[later] += 1
    ordered = [vertex for vertex in graph.vertices if not waits[vertex]]
    for vertex in ordered:  # grows while it is walked
        for later in after.get(vertex, ()):
            waits[later] -= 1
            if not waits[later]:
                ordered.append(later)
    if len(ordered) < len(graph.vertices):
        left = {vertex: after.get(vertex, []) for vertex in graph.vertices if waits[vertex]}
        graph.problem(_cycle_problem(left), next(iter(left)).spot)
        graph.circling.update(left)
        ordered.extend(left)  # they are checked all the same, as far as that can be
    return ordered


def _precedences(
    vertex: Vertex, wires: list[Terminal], crossing: Crossing
) -> Iterator[tuple[Vertex, Vertex]]:
    """List the pairs of vertices, earlier and later, that a vertex and these edges into it make."""
    if vertex.home.owner is not None:
        yield vertex.home.owner, vertex
    if isinstance(vertex.action, CollectAction):
        wires = [*wires, vertex.action.source]
    for wire in wires:
        for source in crossing.behind(wire):
            yield source, vertex
            if (owner := crossing.entered(vertex, source)) is not None:
                yield source, owner
    body = body_of(vertex)
    for wire in wires_within(vertex):
        for source in crossing.behind(wire):
            if source is not vertex and body not in crossing.around(source.home):
                yield source, vertex


def _cycle_problem(after: dict[Vertex, list[Vertex]]) -> str:
    import networkx as nx  # only for the message; it takes a third of a second to load

    cycle = [edge[0] for edge in nx.find_cycle(nx.DiGraph(after))]
    names = _closed([vertex.id for vertex in cycle if _is_told(vertex)])
    rest = len(names) - MOST_CHOICES
    shown = names if rest <= 0 else [*names[:MOST_CHOICES], f"{rest:,} more"]
    return (
        f"the nodes form a cycle: {' -> '.join([*shown, names[0]])}; "
        "a flow is acyclic: what repeats goes into a loop, or comes back by a feedback edge"
    )


def _closed(names: list[str]) -> list[str]:
    """Close a cycle at its first repeated name: a loop that feedback edges make is named like its head."""
    following = [*names[1:], names[0]]
    names = [name for name, other in zip(names, following, strict=True) if name != other] or names[:1]
    first: dict[str, int] = {}
    for position, name in enumerate(names):
        if name in first:
            return names[first[name] : position]
        first[name] = position
    return names


def _is_told(vertex: Vertex) -> bool:
    """Tell whether a cycle names a vertex: a map that `each` opens is named like the node that reads it."""
    match vertex.action:
        case CollectAction() | MapAction(named=False):
            return False
        case _:
            return True


def resolved(terminal: Terminal) -> Terminal:
    """Follow a `collect` to the output of the map that it closes."""
    owner = terminal.owner
    while (
        isinstance(owner, Vertex)
        and isinstance(owner.action, CollectAction)
        and owner.action.output is not None
    ):
        terminal = owner.action.output
        owner = terminal.owner
    return terminal


def scope_of(terminal: Terminal) -> Scope | None:
    """Tell in which scope a terminal lives; None for a constant, which lives anywhere."""
    owner = terminal.owner
    if isinstance(owner, Vertex) and isinstance(owner.action, CallAction):
        return owner.scope
    owner = resolved(terminal).owner
    match owner:
        case Scope():
            return owner
        case Vertex():
            return owner.scope
        case Constant():
            return None
