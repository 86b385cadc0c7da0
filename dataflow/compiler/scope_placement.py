"""Place vertices in scopes, and handle edges that leave maps and lists that are read inside their own map.

A terminal is the source of an edge: a port of a vertex, a parameter of a scope, or a constant. A loop or map
in block form (`with flow.loop():`, `loop:` and `map:` in documents) has its body as a scope from the start.
All other scopes get their vertices here: a vertex belongs to the innermost scope that it reads. A map over
edges opens a scope instance for each edge into a port (S7.4), one opened by `each` for each item of a list.

In `collect(double(each(xs)))` the map that `each` opens has a scope with the parameter `item`. `double` reads
the terminal `item` and is placed in that scope; `collect` reads `double.out`, which becomes an output of the
map, and is placed around it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

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
from dataflow.compiler.resolution import ITEM
from dataflow.compiler.scopes import EdgeTracer, body_of, resolved, scope_of, wires_of, wires_within
from dataflow.diagnostics.graphs import COLLECT_WITHOUT_MAP, LIST_IN_ITS_MAP, TWO_MAPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dataflow.compiler.graph import Spot

__all__ = ["find_own_lists", "place"]


def place(graph: Graph, ordered: list[Vertex]) -> None:
    """Give each vertex the innermost scope of its sources; `ordered` is the result of `in_order`."""
    if graph.is_flat:
        for vertex in ordered:
            vertex.scope = graph.root
        return
    tracer = EdgeTracer()
    entering = _entering(ordered, tracer)
    for vertex in ordered:
        if isinstance(vertex.action, MapAction) and vertex.action.is_every:
            vertex.scope = _nearest_to_all(graph, vertex)
            continue
        wires = [(scope_of(wire), wire) for wire in wires_of(vertex)]
        if isinstance(vertex.action, LoopAction | MapAction):
            wires += _read_within(graph, vertex, entering.get(vertex, {}), tracer)
        vertex.scope = _innermost(graph, vertex, wires)
        if isinstance(vertex.action, CollectAction):
            _close(graph, vertex, vertex.action)
    graph.outputs = {name: _outside_of_edges(wire) for name, wire in graph.outputs.items()}


def _entering(ordered: Sequence[Vertex], tracer: EdgeTracer) -> dict[Vertex, dict[Vertex, list[Terminal]]]:
    """List by loop or map in block form, and by reader, the edges into its body from outside."""
    entering: dict[Vertex, dict[Vertex, list[Terminal]]] = defaultdict(lambda: defaultdict(list))
    for vertex in ordered:
        for wire in wires_of(vertex):
            begin, home = _declared_in(wire), vertex.home
            if begin is None:
                continue
            around = tracer.around(begin)
            while home.owner is not None and home not in around:
                entering[home.owner][vertex].append(wire)
                home = home.owner.home
    return entering


def _declared_in(wire: Terminal) -> Scope | None:
    """Return the block in which an edge begins; None for a constant."""
    owner = wire.owner
    if isinstance(owner, Constant):
        return None
    return owner.home if isinstance(owner, Vertex) else owner


def _read_within(
    graph: Graph, opener: Vertex, entering: Mapping[Vertex, Sequence[Terminal]], tracer: EdgeTracer
) -> Iterator[tuple[Scope | None, Terminal]]:
    """List the sources outside of a loop or map in block form that its body reads, with their scopes.

    A map over edges in the body is in the maps that all its edges are in; the others give it lists (S7.4).
    """
    for vertex, wires in entering.items():
        outside = [wire for wire in wires if not _is_inside(wire, opener, tracer)]
        if not isinstance(vertex.action, MapAction) or not vertex.action.is_every:
            yield from ((scope_of(wire), wire) for wire in outside)
        elif len(outside) == len(list(wires_of(vertex))):
            scopes = [scope for wire in outside if (scope := scope_of(wire)) is not None]
            _note_meetings(graph, scopes)
            yield _common_scope(scopes), outside[0]
    for wire in wires_within(opener):
        if not _is_inside(wire, opener, tracer):
            yield scope_of(wire), wire


def _is_inside(wire: Terminal, opener: Vertex, tracer: EdgeTracer) -> bool:
    """Return whether a wire begins inside the body of a loop or map in block form."""
    body, scope = body_of(opener), scope_of(wire)
    if scope is None:
        return True  # a constant, or a vertex of the body, which is placed after its owner
    if scope is body or scope.owner is None:
        return scope is body
    return body in tracer.around(scope.owner.home)


def _innermost(graph: Graph, vertex: Vertex, wires: list[tuple[Scope | None, Terminal]]) -> Scope:
    """Find the innermost scope; two scopes of which neither is inside the other are a problem (S7.1)."""
    found, why, is_reported = vertex.home, "", False
    for scope, wire in wires:
        if scope is None or scope is found or scope in found.around():
            continue
        if found in scope.around():
            found, why = scope, wire.label
            continue
        if vertex in graph.circling:  # so may be the opener of the scope, which is reported
            continue
        if vertex.home not in scope.around():  # the loop or map around reads it too, and is reported
            assert graph.problems, "outer vertices are placed first"
            continue
        if not _meet(graph, found, scope) and not is_reported:
            graph.problem(TWO_MAPS(first=why, second=wire.label), vertex.spot)
            is_reported = True
    return found


def _meet(graph: Graph, scope: Scope, other: Scope) -> bool:
    """Return whether two calls of `each` over one list are the first difference of two scopes.

    What is in both scopes depends on both calls, so they have to be one map, which is noted (S7.1).
    """
    ways = ([*reversed([*one.around()])] for one in (scope, other))
    apart = next(((one, two) for one, two in zip(*ways, strict=False) if one is not two), None)
    if apart is None:
        return False
    first, second = (_opened_by_each(one) for one in apart)
    if first is None or second is None or first.home is not second.home:
        return False
    assert isinstance(first.action, MapAction), "as it was chosen"
    assert isinstance(second.action, MapAction), "likewise"
    if first.inputs[ITEM].wires != second.inputs[ITEM].wires:
        return False
    graph.meeting.append((first.action.call, second.action.call))
    return True


def _opened_by_each(scope: Scope) -> Vertex | None:
    owner = scope.owner
    is_opened = owner is not None and isinstance(owner.action, MapAction) and owner.action.call is not None
    return owner if is_opened else None


def _note_meetings(graph: Graph, scopes: Sequence[Scope]) -> None:
    """Note the calls of `each` that a map over edges from these scopes depends on (S7.4)."""
    different = [*dict.fromkeys(scopes)]
    for position, scope in enumerate(different):
        for other in different[:position]:
            _meet(graph, scope, other)


def _close(graph: Graph, vertex: Vertex, action: CollectAction) -> None:
    """Make a collect an output of the map it closes, and move it to the scope of the map's owner."""
    scope = scope_of(action.source)
    owner = scope.owner if scope is not None and scope.kind is ScopeKind.MAP else None
    if vertex in graph.circling:
        return  # the scope of its source is not known, which is reported
    if owner is None or owner.home is not vertex.home:
        graph.problem(COLLECT_WITHOUT_MAP(source=action.source.label), vertex.spot)
        return
    assert isinstance(owner.action, MapAction), "a map's scope is owned by a map"
    name = f"collect({action.source.label})"
    if name in owner.action.collects:
        name = f"{name} {len(owner.action.collects)}"
    owner.action.collects[name] = action.source
    action.output = Terminal(owner, name)
    vertex.scope = owner.scope


def _common_scope(scopes: Sequence[Scope]) -> Scope:
    """Find the nearest scope around all of these."""
    return next(scope for scope in scopes[0].around() if all(scope in other.around() for other in scopes))


def _nearest_to_all(graph: Graph, vertex: Vertex) -> Scope:
    """Find the nearest scope common to all edges that a map goes over (S7.4).

    An edge from a deeper map becomes an output of that map, and of those around it: a list with indexes.
    The same applies to an edge from a map outside of the block, unless the block is in that map too.
    """
    given, home = next(iter(vertex.inputs.values())), vertex.home
    around = set(home.around())
    _note_meetings(graph, [scope for wire in given.wires if (scope := scope_of(wire)) is not None])
    brought = [_brought(home, around, wire) for wire in given.wires]
    common = _common_scope([scope for scope, _ in brought])
    given.wires = [_led_to(common, scope, wire) for scope, wire in brought]
    return common


def _brought(home: Scope, around: set[Scope], wire: Terminal) -> tuple[Scope, Terminal]:
    """Lead an edge to a scope that a block can read; an edge from outside becomes one of the block."""
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
    """Export the value of an edge in each instance of a map as an output of the map, if it is not one yet."""
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


class _Reading(NamedTuple):
    """A port inside a map that waits for one of its lists."""

    spot: Spot
    wire: Terminal


def find_own_lists(graph: Graph, ordered: Sequence[Vertex]) -> None:
    """Make lists that are read inside their map settle with their last value; refuse those that cannot.

    Sources come before their readers, and the scope of each vertex is known.
    """
    maps = [vertex for vertex in ordered if isinstance(vertex.action, MapAction) and not vertex.action.named]
    if not maps:
        return
    known = _Order(ordered)
    for opener in maps:
        action = opener.action
        assert isinstance(action, MapAction), "as they were chosen"
        late = _late_because(action)
        found = known.own_lists(opener, are_whole=late is None)
        if late is None:
            action.early.update(found)
            continue
        for name, reading in [*found.items()][:1]:  # the others wait for the same
            _refuse(graph, action, name, reading, late)


def _refuse(graph: Graph, action: MapAction, name: str, reading: _Reading, when: str) -> None:
    begin = _begin(action.collects[name])
    own = f"collect({begin.label})"
    awaited, advice = own, f"read the list outside of the map, or iterate over it again with each({own})"
    if name in action.indexed:  # nothing in a flow refers to this list
        own, awaited, advice = begin.label, f"all values of {begin.label}", ""
    read = _begin(reading.wire).label
    way = "" if read == own else f" through {read}"
    problem = LIST_IN_ITS_MAP(map=action.scope.label, way=way, awaited=awaited, when=when, advice=advice)
    graph.problem(problem, reading.spot)


def _begin(wire: Terminal) -> Terminal:
    """Return the original source of an edge that has been led out of maps, to one over edges (S7.4)."""
    owner = wire.owner
    while isinstance(owner, Vertex) and isinstance(owner.action, MapAction):
        if wire.port not in owner.action.indexed:
            break
        wire = owner.action.collects[wire.port]
        owner = wire.owner
    return wire


def _late_because(action: MapAction) -> str | None:
    """Return when the lists of a map are known, if that is only after all its items have ended."""
    if action.is_every:
        return "all edges have settled and the nodes that run for each of them have ended"
    if action.options.on_error != "fail":
        return f"all items have ended, because of on_error={action.options.on_error!r}"
    if action.options.max_concurrency is not None:
        return "all items have ended, because of max_concurrency"
    return None


class _Order:
    """The vertices of each scope, and the position of each vertex."""

    def __init__(self, ordered: Sequence[Vertex]) -> None:
        self.position = {vertex: position for position, vertex in enumerate(ordered)}
        self.members: dict[Scope, list[Vertex]] = defaultdict(list)
        for vertex in ordered:
            if not isinstance(vertex.action, CollectAction):
                self.members[vertex.fires_in].append(vertex)

    def own_lists(self, opener: Vertex, *, are_whole: bool) -> dict[str, _Reading]:
        """Find the outputs of a map that something inside it waits for, each with its first reader.

        `are_whole` means that lists of other maps count as known only when these have ended.
        """
        body = body_of(opener)
        assert body is not None, "it is a map"
        found: dict[str, _Reading] = {}
        seen: set[Terminal] = set()
        for vertex in self._inside(body):
            for spot, wire in _readings(vertex):
                todo = [wire]
                for read in todo:  # grows during the iteration
                    terminal = resolved(read)
                    if terminal in seen or not self._is_behind(read, opener, body):
                        continue
                    seen.add(terminal)
                    if terminal.owner is opener:
                        found.setdefault(terminal.port, _Reading(spot, wire))
                    todo += self._waits_for(terminal, opener.fires_in, are_whole=are_whole)
        return found

    def _inside(self, body: Scope) -> Iterator[Vertex]:
        """Yield the vertices in a scope, and in those inside it."""
        todo = [body]
        for scope in todo:  # grows during the iteration
            for vertex in self.members.get(scope, ()):
                yield vertex
                if (inner := body_of(vertex)) is not None:
                    todo.append(inner)

    def _is_behind(self, terminal: Terminal, opener: Vertex, body: Scope) -> bool:
        """Return whether a terminal is outside of a map, and may wait for it."""
        scope, owner = scope_of(terminal), terminal.owner
        if scope is None or body in scope.around():
            return False
        match owner:
            case Vertex(action=MapAction(named=False)):  # it may open before, and end after
                return True
            case Vertex():
                return self.position[owner] > self.position[opener]
            case _:
                return scope.owner is not None and self.position[scope.owner] > self.position[opener]

    def _waits_for(self, terminal: Terminal, around: Scope, *, are_whole: bool) -> Iterator[Terminal]:
        """List the dependencies of a terminal, and of its scope instance unless that is around."""
        owner, port = terminal
        match owner:
            case Vertex(action=MapAction() as action):
                yield from wires_of(owner)
                if not are_whole and _late_because(action) is None and not action.named:
                    yield action.collects[port]
                else:
                    yield from self._whole(action.scope)
            case Vertex(action=LoopAction(scope=scope)):
                yield from wires_of(owner)
                yield from self._whole(scope)
            case Vertex():
                yield from wires_of(owner)
            case _:
                pass
        home = scope_of(terminal)
        if home is not None and home.owner is not None and home not in around.around():
            yield from wires_of(home.owner)
            if isinstance(home.owner.action, LoopAction):  # an iteration follows another
                yield from self._whole(home)

    def _whole(self, scope: Scope) -> Iterator[Terminal]:
        for vertex in self._inside(scope):
            yield from wires_of(vertex)
            yield from wires_within(vertex)


def _readings(vertex: Vertex) -> Iterator[_Reading]:
    """List the sources of a vertex with the locations for messages."""
    for given in vertex.inputs.values():
        spot = vertex.read_at or given.read_at or vertex.spot_of(given.name, given.steps)
        for wire in given.wires:
            yield _Reading(spot, wire)
    for wire in wires_within(vertex):
        yield _Reading(vertex.spot, wire)
