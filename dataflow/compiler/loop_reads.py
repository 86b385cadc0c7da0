"""Loops made of feedback edges: their loop variables, their outputs, and the edges that leave them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from dataflow.compiler.graph import (
    CollectAction,
    Constant,
    Input,
    LoopAction,
    MapAction,
    Scope,
    ScopeKind,
    Terminal,
    Vertex,
)
from dataflow.compiler.scopes import body_of, wires_of, wires_within
from dataflow.core.states import NO_EDGE
from dataflow.core.wiring import LoopBlock, Reference
from dataflow.diagnostics.graphs import FEEDBACK_BESIDE_ITEM, MAP_BESIDE_LOOP

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Literal

    from dataflow.compiler.graph import Graph, RoundEdge, Spot
    from dataflow.core.wiring import Rounds
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = [
    "Around",
    "LiftedLoop",
    "LiftedReads",
    "LoopsAround",
    "left_by",
    "maps_around",
    "reads_between",
    "refuse_beside",
    "refuse_items",
    "rewire",
    "vertex_behind",
]

#: The maps that each vertex is in, outermost first.
Around: TypeAlias = "dict[Vertex, dict[Vertex, None]]"
#: The loops around each vertex that is in one, outermost first.
LoopsAround: TypeAlias = "dict[Vertex, tuple[LiftedLoop, ...]]"


@dataclass(frozen=True, slots=True, eq=False)
class LiftedLoop:
    """A loop with its loop variables and outputs, as far as they are known."""

    head: Vertex  # the first in declared order, after which the loop is named (S2.2)
    maps: Collection[Vertex]  # opened by `each` around it
    vertex: Vertex
    action: LoopAction
    left: dict[tuple[Terminal, str], Terminal] = field(default_factory=dict)
    nothing: Terminal = field(default_factory=lambda: Terminal(Constant(NO_EDGE), "value"))

    @classmethod
    def of(cls, head: Vertex, closing: Sequence[Rounds], maps: Collection[Vertex]) -> LiftedLoop:
        """Return the loop that these edges close: the smallest limit applies, and `fail` takes precedence."""
        limit = min((one.limit for one in closing if one.limit is not None), default=None)
        fails = any(one.on_limit == "fail" for one in closing)
        block = LoopBlock(head.id, limit=limit, on_limit="fail" if fails else "exit")
        action = LoopAction(block, Scope(ScopeKind.LOOP, is_lifted=True))
        vertex = Vertex(head.id, head.order - 1, action, head.home)
        action.scope.owner = vertex
        return cls(head, maps, vertex, action)

    @property
    def scope(self) -> Scope:
        return self.action.scope

    def carry(
        self,
        name: str,
        label: str,
        read_at: Spot,
        *,
        first: Terminal | None = None,
        following: Terminal | None = None,
    ) -> Terminal:
        """Add a loop variable for an edge into a port: for the first iteration, or for all next ones."""
        scope = self.scope
        name = _free_name(name, scope.parameters)
        scope.parameters[name] = None
        scope.labels[name] = label
        if first is not None:
            self.vertex.inputs[name] = Input(name, [first], required=False, read_at=read_at)
        self.action.nexts[name] = self.nothing if following is None else following
        return Terminal(scope, name)

    def leave(self, wire: Terminal, which: Literal["last", "all"]) -> Terminal:
        """Return the output of the loop for the last value of an edge, or for the list of all (S6.4)."""
        if (known := self.left.get((wire, which))) is not None:
            return known
        outputs = self.action.block.body.outputs
        name = _free_name(wire.label if which == "last" else f"all({wire.label})", outputs)
        outputs[name] = Reference(self.head.id)  # only the name is used after resolution
        self.action.results[name] = wire
        if which == "all":
            self.action.alls.add(name)
        self.left[wire, which] = Terminal(self.vertex, name)
        return self.left[wire, which]


def _free_name(base: str, taken: Collection[str]) -> str:
    """Return the first of `base`, `base (2)`, `base (3)` and so on that is not taken."""
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base} ({count})"
    return name


@dataclass(slots=True)
class LiftedReads:
    """Determines what each edge reads; vertices that close maps for outputs are added to the graph.

    round_edges: the edges with options for loops, by port and position in it
    closing: the feedback edges that close loops, likewise
    fed: the loop that edges into a port close, by the port
    around: the loops around each vertex
    fires: the maps that each vertex fires in
    collected: the collects of maps for outputs, by their source
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
        """Close the maps over edges that a loop opens around an output of the flow, innermost first.

        The collects are added to the graph, and to `around`, which is shared with the lifter of the loops.
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
    """List the loops that an edge leaves, innermost first."""
    source = vertex_behind(wire)
    if source is None or source not in around:
        return []
    above = raised(reader, source.home)
    kept = set(around.get(above, ()) if above is not None else ())
    return [loop for loop in reversed(around[source]) if loop not in kept]


def rewire(graph: Graph, change: Callable[[Terminal, Vertex | None, Input | None, int], Terminal]) -> None:
    """Replace every edge of a graph by the result of `change` for it, its reader, its port and its position.

    The reader of an output of a block is the block, an output of the flow has none.
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


def refuse_items(graph: Graph, closing: Iterable[RoundEdge], fed: Mapping[int, LiftedLoop]) -> None:
    """Refuse a feedback edge into a port for one value that gets an item in each iteration anyway."""
    for one in closing:
        if one.given.port is None or one.given.port.many:
            continue
        loop = fed[id(one.given)]
        for wire in one.given.wires:
            opener = vertex_behind(wire)
            if is_item(wire) and opener is not None and opener not in loop.maps:
                graph.problem(FEEDBACK_BESIDE_ITEM(source=one.edge.source, item=wire.label), one.spot)


def refuse_beside(
    graph: Graph, ordered: Sequence[Vertex], around: LoopsAround, fires: Around
) -> set[LiftedLoop]:
    """Refuse maps that are read both in a loop, which opens them in each iteration, and beside it.

    Returns the loops that cannot be lifted, each with one reported problem.
    """
    refused: dict[LiftedLoop, tuple[Diagnostic, Vertex]] = {}
    for vertex, wire, loop, opener in _apart(ordered, around, fires):
        scope, is_inside = body_of(opener), loop in around.get(vertex, ())
        assert scope is not None, "it is a map"
        problem = MAP_BESIDE_LOOP(
            source=wire.label, side="from outside of" if is_inside else "outside of",
            loop=loop.head.id, map=scope.label,
            advice=f"read each(collect({wire.label})) instead" if is_inside
            else "call each(...) again, which opens another map beside the loop",
        )  # fmt: skip
        if loop not in refused or (is_inside and loop not in around.get(refused[loop][1], ())):
            refused[loop] = problem, vertex
    for problem, vertex in refused.values():
        graph.problem(problem, vertex.spot)
    return set(refused)


def _apart(
    ordered: Sequence[Vertex], around: LoopsAround, fires: Around
) -> Iterator[tuple[Vertex, Terminal, LiftedLoop, Vertex]]:
    """Yield the readers of a map from the other side of a loop that opens it: reader, wire, loop, map."""
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


def reads_between(graph: Graph, is_left_out: Callable[[Input, int], bool]) -> Iterator[tuple[Vertex, Vertex]]:
    """Yield each pair of vertices of one block of which the second, or one inside it, reads the first."""
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
    """Return the maps that each vertex fires in, and the maps that it reads from; a collect fires outside.

    A map over edges is in the maps that all its edges are in: an edge from a deeper map brings the values
    of all its instances (S7.4). Sources come before their readers.
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
    """Return the maps that an edge begins in."""
    source = vertex_behind(wire)
    if source is None:
        return {}
    maps = fires.get(source, {})
    is_item = isinstance(source.action, MapAction) and wire.owner is source.action.scope
    return {**maps, source: None} if is_item else maps


def is_item(wire: Terminal) -> bool:
    """Return whether an edge begins at an item of a map."""
    owner = wire.owner
    return isinstance(owner, Scope) and owner.owner is not None and isinstance(owner.owner.action, MapAction)


def vertex_behind(wire: Terminal) -> Vertex | None:
    """Return the vertex at which an edge begins, or the opener of the scope whose parameter it reads."""
    owner = wire.owner
    if isinstance(owner, Scope):
        return owner.owner
    return owner if isinstance(owner, Vertex) else None


def raised(reader: Vertex | None, home: Scope) -> Vertex | None:
    """Return the vertex of a block that contains a reader; None if it is not inside that block."""
    while reader is not None and reader.home is not home:
        reader = reader.home.owner
    return reader
