"""Lists that are read again inside the map that they are of: told early, or refused (S7.1).

A list is known when all items of its map have ended. What an item waits for must be known before that.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from dataflow.compiler.graph import CollectAction, LoopAction, MapAction, Terminal, Vertex
from dataflow.compiler.scoping import body_of, resolved, scope_of, wires_of, wires_within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dataflow.compiler.graph import Graph, Scope, Spot

__all__ = ["find_own_lists"]


class _Reading(NamedTuple):
    """A port inside a map that waits for one of its lists."""

    spot: Spot
    wire: Terminal


def find_own_lists(graph: Graph, ordered: Sequence[Vertex]) -> None:
    """Have lists that are read inside their map settle with their last value; refuse those that cannot.

    Sources come before their readers, and it is known in which scope each vertex fires.
    """
    maps = [vertex for vertex in ordered if isinstance(vertex.action, MapAction) and not vertex.action.named]
    if not maps:
        return
    known = _Known(ordered)
    for opener in maps:
        action = opener.action
        assert isinstance(action, MapAction), "as they were chosen"
        why = _why_late(action)
        found = known.own_lists(opener, are_whole=why is None)
        if why is None:
            action.early.update(found)
            continue
        for name, reading in [*found.items()][:1]:  # others wait for the same
            _refuse(graph, action, name, reading, why)


def _refuse(graph: Graph, action: MapAction, name: str, reading: _Reading, why: str) -> None:
    begin = _begin(action.collects[name])
    own = f"collect({begin.label})"
    waits_for = f"its list {own}"
    hint = f"; read the list outside of the map, or go over it anew by each({own})"
    if name in action.indexed:  # nothing that a flow says gives this list
        own, waits_for, hint = begin.label, f"all that {begin.label} brings", ""
    way = _begin(reading.wire).label
    read = "" if way == own else f", by way of {way},"
    told = f"{reading.spot} waits inside {action.scope.label}{read} for {waits_for}, which {why}{hint}"
    graph.problem(told, reading.spot)


def _begin(wire: Terminal) -> Terminal:
    """Return where an edge begins that has been led out of maps, to one over edges (S7.4)."""
    owner = wire.owner
    while isinstance(owner, Vertex) and isinstance(owner.action, MapAction):
        if wire.port not in owner.action.indexed:
            break
        wire = owner.action.collects[wire.port]
        owner = wire.owner
    return wire


def _why_late(action: MapAction) -> str | None:
    """Tell why the lists of a map are not known before all its items have ended; None if they may be."""
    if action.is_every:
        return "is known when all edges have settled and all their frames have ended"
    if action.options.on_error != "fail":
        return f"with on_error={action.options.on_error!r} is known when all items have ended"
    if action.options.max_concurrency is not None:
        return "with max_concurrency is known when all items have ended: some begin when others have"
    return None


class _Known:
    """Which vertices are in which scope, and how far behind."""

    def __init__(self, ordered: Sequence[Vertex]) -> None:
        self.position = {vertex: position for position, vertex in enumerate(ordered)}
        self.members: dict[Scope, list[Vertex]] = defaultdict(list)
        for vertex in ordered:
            if not isinstance(vertex.action, CollectAction):
                self.members[vertex.fires_in].append(vertex)

    def own_lists(self, opener: Vertex, *, are_whole: bool) -> dict[str, _Reading]:
        """Find the outputs of a map that something inside it waits for, each with the first that does.

        `are_whole` says that lists of other maps are known when these have ended, even where that is earlier.
        """
        body = body_of(opener)
        assert body is not None, "it is a map"
        found: dict[str, _Reading] = {}
        seen: set[Terminal] = set()
        for vertex in self._inside(body):
            for spot, wire in _readings(vertex):
                todo = [wire]
                for read in todo:  # grows while it is walked
                    terminal = resolved(read)
                    if terminal in seen or not self._is_behind(read, opener, body):
                        continue
                    seen.add(terminal)
                    if terminal.owner is opener:
                        found.setdefault(terminal.port, _Reading(spot, wire))
                    todo += self._waits_for(terminal, opener.fires_in, are_whole=are_whole)
        return found

    def _inside(self, body: Scope) -> Iterator[Vertex]:
        """Go through the vertices in a scope, and in those inside it."""
        todo = [body]
        for scope in todo:  # grows while it is walked
            for vertex in self.members.get(scope, ()):
                yield vertex
                if (inner := body_of(vertex)) is not None:
                    todo.append(inner)

    def _is_behind(self, terminal: Terminal, opener: Vertex, body: Scope) -> bool:
        """Tell whether a terminal is outside of a map, and may wait for it."""
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
        """List what must be known before a terminal is, and before its frame opens unless that is around."""
        owner, port = terminal
        match owner:
            case Vertex(action=MapAction() as action):
                yield from wires_of(owner)
                if not are_whole and _why_late(action) is None and not action.named:
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
            if isinstance(home.owner.action, LoopAction):  # a round follows another
                yield from self._whole(home)

    def _whole(self, scope: Scope) -> Iterator[Terminal]:
        for vertex in self._inside(scope):
            yield from wires_of(vertex)
            yield from wires_within(vertex)


def _readings(vertex: Vertex) -> Iterator[_Reading]:
    """List what a vertex reads, and where that is told of."""
    for given in vertex.inputs.values():
        spot = vertex.read_at or given.read_at or vertex.spot_of(given.name, given.steps)
        for wire in given.wires:
            yield _Reading(spot, wire)
    for wire in wires_within(vertex):
        yield _Reading(vertex.spot, wire)
