"""Which scope each vertex fires in, and an order in which sources come before their readers (S2, S7.1)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from dataflow.crossing import Crossing
from dataflow.graph import (
    CallAction,
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
from dataflow.wording import MOST_CHOICES

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["body_of", "every_wire", "in_order", "place", "resolved", "scope_of", "wires_of", "wires_within"]


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

    cycle = nx.find_cycle(nx.DiGraph(after))
    names = [edge[0].id for edge in cycle]
    rest = len(names) - MOST_CHOICES
    shown = names if rest <= 0 else [*names[:MOST_CHOICES], f"{rest:,} more"]
    return (
        f"the nodes form a cycle: {' -> '.join([*shown, names[0]])}; "
        "a flow is acyclic: what repeats goes into a loop, or comes back by a feedback edge"
    )


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


def place(graph: Graph, ordered: list[Vertex]) -> None:
    """Give each vertex the innermost scope of what it reads; `ordered` comes from `in_order`."""
    if graph.is_flat:
        for vertex in ordered:
            vertex.scope = graph.root
        return
    crossing = Crossing()
    entering = _entering(ordered, crossing)
    for vertex in ordered:
        wires = [*wires_of(vertex)]
        match vertex.action:
            case LoopAction() | MapAction():
                within = (*entering.get(vertex, []), *wires_within(vertex))
                wires += [wire for wire in within if not _is_inside(wire, vertex, crossing)]
            case _:
                pass
        if isinstance(vertex.action, MapAction) and vertex.action.is_every:
            vertex.scope = _nearest_to_all(vertex)
        else:
            vertex.scope = _innermost(graph, vertex, wires)
        if isinstance(vertex.action, CollectAction):
            _close(graph, vertex, vertex.action)
    graph.outputs = {name: _outside_of_edges(wire) for name, wire in graph.outputs.items()}


def _entering(ordered: list[Vertex], crossing: Crossing) -> dict[Vertex, list[Terminal]]:
    """List by loop and map in block form the edges into its body that begin outside of its block."""
    entering: dict[Vertex, list[Terminal]] = {}
    for vertex in ordered:
        for wire in wires_of(vertex):
            begin, home = _declared_in(wire), vertex.home
            if begin is None:
                continue
            around = crossing.around(begin)
            while home.owner is not None and home not in around:
                entering.setdefault(home.owner, []).append(wire)
                home = home.owner.home
    return entering


def _declared_in(wire: Terminal) -> Scope | None:
    """Return the block that an edge begins in, also if that is a parameter of it; None for a constant."""
    owner = wire.owner
    if isinstance(owner, Constant):
        return None
    return owner.home if isinstance(owner, Vertex) else owner


def _is_inside(wire: Terminal, opener: Vertex, crossing: Crossing) -> bool:
    """Tell whether a wire begins inside the body of a loop or map in block form."""
    body, scope = body_of(opener), scope_of(wire)
    if scope is None:
        return True  # a constant, or a vertex of the body, which is placed after its owner
    if scope is body or scope.owner is None:
        return scope is body
    return body in crossing.around(scope.owner.home)


def _innermost(graph: Graph, vertex: Vertex, wires: list[Terminal]) -> Scope:
    """Find the innermost scope; two scopes neither inside the other are a problem (S7.1)."""
    found, why = vertex.home, ""
    for wire in wires:
        scope = scope_of(wire)
        if scope is None or scope is found or scope in found.around():
            continue
        if found in scope.around():
            found, why = scope, wire.label
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


def _nearest_to_all(vertex: Vertex) -> Scope:
    """Find the nearest scope common to all edges that a map goes over (S7.4).

    An edge from a deeper map becomes an output of that map, and of those around it: a list with indexes.
    """
    given, home = next(iter(vertex.inputs.values())), vertex.home
    scopes = [_seen_from(home, scope_of(wire)) for wire in given.wires]
    common = next(scope for scope in scopes[0].around() if all(scope in other.around() for other in scopes))
    given.wires = [_led_to(common, scope, wire) for scope, wire in zip(scopes, given.wires, strict=True)]
    return common


def _led_to(common: Scope, scope: Scope, wire: Terminal) -> Terminal:
    """Lead an edge out of the maps around it, up to a scope."""
    name = f"arrivals({wire.label})"
    while scope is not common:
        owner = _map_of(scope)
        wire, scope = _leave(owner, wire, name, indexed=True), owner.fires_in
    return wire


def _seen_from(home: Scope, scope: Scope | None) -> Scope:
    """Return where a value is for a reader in a block: what comes from around is as if it were made there."""
    return scope if scope is not None and home in scope.around() else home


def _outside_of_edges(wire: Terminal) -> Terminal:
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
