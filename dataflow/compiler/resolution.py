"""Resolve the source of every port to edges of the graph."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dataflow.compiler.graph import (
    CallAction,
    CollectAction,
    Constant,
    Graph,
    Input,
    Join,
    JoinAction,
    LoopAction,
    MapAction,
    RoundEdge,
    Scope,
    ScopeKind,
    Spot,
    Terminal,
    Vertex,
)
from dataflow.compiler.names import SCOPES, Declarations
from dataflow.core.policy import EachOptions
from dataflow.core.ports import field_advice
from dataflow.core.wiring import (
    CARRY,
    All,
    Collect,
    Each,
    Every,
    Fallback,
    Gather,
    Joining,
    Literally,
    LoopBlock,
    Many,
    MapBlock,
    Merge,
    MergeContexts,
    PlacedNode,
    Race,
    Reference,
    Source,
    encode,
    signal_of,
)
from dataflow.diagnostics.graphs import (
    ALL_MISPLACED,
    CARRY_WITHOUT_NEXT,
    EACH_OPTIONS_DIFFER,
    EACH_SHARED_APART,
    EDGE_INTO_A_BLOCK,
    JOIN_EMPTY,
    NAME_UNKNOWN,
    PORT_UNCONNECTED,
    PORT_UNKNOWN,
    PORT_WIRED_TWICE,
    READ_BEFORE_THE_END,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataflow.compiler.graph import Steps
    from dataflow.compiler.names import FindFunction, FindType, Lookup, Names
    from dataflow.core.context import MergeFunction
    from dataflow.core.wiring import Block, Edge, Placed, Wiring
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = ["MapSharing", "resolve"]

#: The name of the item of a map that a source has opened.
ITEM: Final = "item"


class MapSharing:
    """The calls of `each` that are one map, because something in their maps depends on both (S7.1)."""

    def __init__(self) -> None:
        self._groups: dict[object, list[object]] = {}  # of calls that are one map

    def first(self, call: object) -> object:
        """Return the call that represents the map of a call."""
        return self._groups.get(call, [call])[0]

    def join(self, pairs: Iterable[tuple[object, object]]) -> bool:
        """Let the calls of each pair be one map; return whether any two were not one yet."""
        is_new = False
        for pair in pairs:
            one, other = (self._groups.setdefault(call, [call]) for call in pair)
            if one is not other:
                one += other
                self._groups.update(dict.fromkeys(other, one))
                is_new = True
        return is_new


def resolve(
    wiring: Wiring, find_type: FindType, find_function: FindFunction, sharing: MapSharing | None = None
) -> Graph:
    """Resolve all names of a graph definition; the problems found are in the graph.

    Each call of `each` opens a map, apart from those that `sharing` makes one.
    """
    declared = Declarations(wiring, find_type, find_function)
    _Connector(declared, sharing or MapSharing()).connect(wiring.block)
    return declared.graph


class _Connector:
    """Connects every vertex to its sources."""

    def __init__(self, declared: Declarations, sharing: MapSharing) -> None:
        self.declared = declared
        self.graph = declared.graph
        self.sources = _Sources(declared.graph, declared.lookup, sharing)

    def connect(self, root: Block) -> None:
        """Resolve every source of every block, then the outputs of the flow."""
        for block, names in self.declared.blocks:
            self._connect_edges(block, names)
            for placed in block.nodes.values():
                if not isinstance(placed, PlacedNode):
                    self._connect_block(placed, names)
                elif placed.inputs:
                    self._connect_inputs(placed, names)
                if placed.after:
                    self._connect_after(placed, names)
        for name, source in root.outputs.items():
            spot = Spot(f"outputs.{name}", self.graph.root, ("outputs", name), name)
            reader = _Reader(self.declared.root, spot, "each", 2 * len(root.nodes))
            if (wire := self.sources.wire(source, reader)) is not None:
                self.graph.outputs[name] = wire
        for vertex in self.graph.vertices:
            self._require(vertex)

    def _connect_edges(self, block: Block, names: Names) -> None:
        for edge in block.edges:
            vertex = names.vertices.get(edge.target)
            if vertex is not None and isinstance(vertex.action, CallAction):
                steps: Steps = () if edge.index is None else ("edges", edge.index)
                port = edge.target_port
                given = vertex.inputs.get(port) or self._open(vertex, port, steps)
                wire = names.find(edge.source)
                if wire is not None:
                    given.wires.append(wire)
                else:
                    wire = self._add(vertex, given, edge.source, names, steps)
                if edge.rounds is not None and wire is not None:
                    one = RoundEdge(edge, edge.rounds, vertex, given, len(given.wires) - 1)
                    self.graph.round_edges.append(one)
            elif vertex is not None:
                self._misplaced(edge, names, EDGE_INTO_A_BLOCK(name=edge.target, what=vertex.kind))
            else:
                known = map(encode, names.vertices)
                unknown = NAME_UNKNOWN(what="node", name=edge.target, available=known, advice="")
                self._misplaced(edge, names, unknown)

    def _misplaced(self, edge: Edge, names: Names, problem: Diagnostic) -> None:
        steps: tuple[str | int, ...] = ("nodes", edge.target, "inputs", edge.target_port)
        if edge.index is not None:  # it is one of the edges of a document
            steps = ("edges", edge.index)
        spot = Spot(f"{edge.target}.{edge.target_port}", names.scope, steps, edge.target_port)
        self.graph.problem(problem, spot)

    def _connect_block(self, placed: LoopBlock | MapBlock, names: Names) -> None:
        vertex = names.vertices[placed.id]
        match placed:
            case LoopBlock():
                self._connect_loop(placed, vertex, names)
            case MapBlock():
                self._connect_map(placed, vertex, names)

    def _connect_inputs(self, placed: PlacedNode, names: Names) -> None:
        vertex = names.vertices[placed.id]
        for port, source in placed.inputs.items():
            is_value = isinstance(source, Literally) and not source.is_source
            steps: Steps = ("nodes", vertex.id, "values" if is_value else "inputs", port)
            given = vertex.inputs.get(port)
            if given is not None and not self._begins(given):
                self.graph.problem(PORT_WIRED_TWICE(), vertex.spot_of(port, steps))
                continue
            given = given or self._open(vertex, port, steps)
            for one in source.sources if isinstance(source, Many) else (source,):
                self._add(vertex, given, one, names, steps)

    def _begins(self, given: Input) -> bool:
        """Return whether a port has only feedback edges, so that it may also have its own source."""
        feedback = [one for one in self.graph.round_edges if one.given is given and one.rounds.feedback]
        return len(feedback) == len(given.wires)

    def _connect_after(self, placed: Placed, names: Names) -> None:
        vertex = names.vertices[placed.id]
        given = Input("$after", [])
        for signal in placed.after:
            self._add(vertex, given, signal_of(signal), names, ("nodes", vertex.id, "after"))
        vertex.inputs["$after"] = given

    def _open(self, vertex: Vertex, port: str, steps: Steps) -> Input:
        action = vertex.action
        assert isinstance(action, CallAction), "only nodes have ports that are wired by name"
        declared = action.type.inputs.get(port)
        given = Input(port, [], declared, declared is None or declared.required, steps)
        if declared is not None or action.type.is_opaque:
            vertex.inputs[port] = given
        else:  # the problems of its sources are recorded all the same
            owner, known = f"node type {action.type.id!r}", action.type.inputs
            problem = PORT_UNKNOWN(owner=owner, which="input", name=port, available=known, advice="")
            self.graph.problem(problem, vertex.spot_of(port, steps))
        return given

    def _add(
        self, vertex: Vertex, given: Input, source: Source, names: Names, steps: Steps
    ) -> Terminal | None:
        """Add a source to a port; `steps` lead to a source that is not among the inputs of its node."""
        spot = vertex.spot_of(given.name, steps)
        wire = self.sources.wire(source, _Reader(names, spot, vertex.id, vertex.order - 1))
        if wire is not None:
            given.wires.append(wire)
        return wire

    def _connect_loop(self, loop: LoopBlock, vertex: Vertex, names: Names) -> None:
        action = vertex.action
        assert isinstance(action, LoopAction)
        inside = self.declared.inside(loop.body)
        order = 2 * len(loop.body.nodes)
        for name, carried in loop.carries.items():
            spot = vertex.spot.part(f"carry.{name}", "loop", "carry", name)
            first = self.sources.wire(
                carried.first, _Reader(names, spot.within("first"), loop.id, vertex.order - 1)
            )
            vertex.inputs[name] = Input(name, [first] if first else [], required=False)
            if carried.next is None:
                self.graph.problem(CARRY_WITHOUT_NEXT(), spot)
                continue
            spot = Spot(f"{spot}.next", inside.scope, ("carry", name, "next"))
            if next_wire := self.sources.wire(carried.next, _Reader(inside, spot, "each", order)):
                action.nexts[name] = next_wire
        if loop.test is not None:
            spot = Spot(f"{loop.id}.{loop.test.kind}", inside.scope, (loop.test.kind,))
            action.test_wire = self.sources.wire(loop.test.source, _Reader(inside, spot, "each", order))
        for name, source in loop.body.outputs.items():
            if isinstance(source, Reference) and source.node == CARRY and source.port in loop.carries:
                action.finals[name] = source.port
                continue
            each_round = source.source if isinstance(source, All) else source
            spot = Spot(f"{loop.id}.{name}", inside.scope, ("outputs", name), name)
            reader = _Reader(inside, spot, "each", order)
            if wire := self.sources.wire(each_round, reader):
                action.results[name] = wire
            if isinstance(source, All):
                action.alls.add(name)

    def _connect_map(self, placed: MapBlock, vertex: Vertex, names: Names) -> None:
        action = vertex.action
        assert isinstance(action, MapAction)
        inside = self.declared.inside(placed.body)
        for name, source in placed.over.items():
            spot = vertex.spot.part(f"over.{name}", "map", "over", name)
            wire = self.sources.wire(source, _Reader(names, spot, placed.id, vertex.order - 1))
            vertex.inputs[name] = Input(name, [wire] if wire else [])
            action.lists[name] = name
        for name, source in placed.body.outputs.items():
            spot = Spot(f"{placed.id}.{name}", inside.scope, ("outputs", name), name)
            reader = _Reader(inside, spot, "each", 2 * len(placed.body.nodes))
            if (wire := self.sources.wire(source, reader)) is not None:
                action.collects[name] = wire

    def _require(self, vertex: Vertex) -> None:
        if not isinstance(vertex.action, CallAction):
            return
        for port in vertex.action.required:
            if port not in vertex.inputs:
                spot = vertex.spot_of(port, vertex.spot.steps)
                self.graph.problem(PORT_UNCONNECTED(), spot)


@dataclass(slots=True, eq=False)
class _Reader:
    """The reader of a source: its block, its location, and its position in the order."""

    names: Names
    spot: Spot
    id: str  # the name of a map that it is the first to read
    order: int  # of a join or map that is added for it


class _Sources:
    """Resolves sources to terminals, adding a vertex for each join and each map that they open."""

    def __init__(self, graph: Graph, lookup: Lookup, sharing: MapSharing) -> None:
        self._graph = graph
        self._lookup = lookup
        self._sharing = sharing
        self._joins: dict[tuple[int, Source], Terminal | None] = {}
        self._alike: dict[tuple[object, ...], Terminal] = {}  # joins and lists by the edges into them
        self._counts: Counter[tuple[int, str]] = Counter()  # of the joins of a block, by mode
        self._lists: dict[Literally, Terminal] = {}  # constant lists that maps go over
        self._maps: dict[tuple[Scope, Terminal, object], tuple[EachOptions, Vertex]] = {}
        self._calls: dict[object, tuple[Scope, Terminal]] = {}  # of `each`: their blocks and lists

    def wire(self, source: Source, reader: _Reader) -> Terminal | None:
        """Resolve a source; None if that fails, which is recorded as a problem."""
        match source:
            case Reference():
                return self.reference(source, reader)
            case Literally():
                return Terminal(Constant(source.value, source.is_json), "value")
            case _:
                key = (id(reader.names), source)
                if key not in self._joins:
                    self._joins[key] = self._expression(source, reader)
                return self._joins[key]

    def _expression(self, source: Joining, reader: _Reader) -> Terminal | None:
        match source:
            case Merge(sources):
                return self._join(Join.MERGE, sources, reader)
            case Gather(sources):
                return self._join(Join.GATHER, sources, reader)
            case Race(sources):
                return self._join(Join.RACE, sources, reader)
            case MergeContexts(sources, how):
                found = self._lookup.policy(how, reader.spot)
                mode = Join.MERGE if how == "pick" else Join.CONTEXTS
                return self._join(mode, sources, reader, Join.CONTEXTS.value, found)
            case Fallback(first, default):
                return self._join(Join.FALLBACK, (first, default), reader)
            case Each():
                return self._each(source, reader)
            case Every(sources):
                return self._every(sources, reader)
            case Collect(inner):
                wire = self.wire(inner, reader)
                return None if wire is None else self._collect(wire, reader)
            case All():
                self._graph.problem(ALL_MISPLACED(), reader.spot)
                return None

    def _join(
        self,
        mode: Join,
        sources: tuple[Source, ...],
        reader: _Reader,
        word: str = "",
        how: MergeFunction | None = None,
    ) -> Terminal | None:
        word = word or mode.value
        if not sources:
            self._graph.problem(JOIN_EMPTY(join=word), reader.spot)
            return None
        wires = [wire for source in sources if (wire := self.wire(source, reader)) is not None]
        if len(wires) < len(sources):
            return None
        key = (reader.names.scope, word, how, *wires)
        if key not in self._alike:
            label = f"{word}({', '.join(wire.label for wire in wires)})"
            vertex = self._add(self._name(word, reader.names), JoinAction(mode, how), reader, label)
            vertex.inputs["sources"] = Input("sources", wires)
            self._alike[key] = Terminal(vertex, "out")
        return self._alike[key]

    def _collect(self, wire: Terminal, reader: _Reader) -> Terminal:
        key = (reader.names.scope, "collect", wire)
        if key not in self._alike:
            vertex = self._add("collect", CollectAction(wire), reader, f"collect({wire.label})")
            if (home := _home_of(wire)) is not None:  # a list made outside is read inside (S2.3)
                vertex.home = home
            self._alike[key] = Terminal(vertex, "out")
        return self._alike[key]

    def _name(self, word: str, names: Names) -> str:
        """Name a join by its mode, counted in its block like functions (S1.2)."""
        while True:
            self._counts[id(names), word] += 1
            count = self._counts[id(names), word]
            name = word if count == 1 else f"{word}_{count}"
            if name not in names.vertices:
                return name

    def _each(self, item: Each, reader: _Reader) -> Terminal | None:
        """Open a map, or read the one of the same call or of one that it shares the map with (S7.1)."""
        wire = self._list(item.source, reader)
        if wire is None:
            return None
        home, call = reader.names.scope, self._sharing.first(item.call)
        is_known = self._calls.setdefault(item.call, (home, wire)) == (home, wire)
        if not is_known and isinstance(item.call, str):  # in Python it has been refused while wiring
            self._graph.problem(EACH_SHARED_APART(share=item.call), reader.spot)
        known = self._maps.get((home, wire, call))
        if known is None:
            scope = Scope(ScopeKind.MAP, parameters={ITEM: None}, label=f"each({wire.label})")
            options = self._lookup.options(item.options, reader.spot)
            action = MapAction(scope, options, {ITEM: ITEM}, named=False, call=item.call)
            scope.owner = vertex = self._add(reader.id, action, reader)
            vertex.inputs[ITEM] = Input(ITEM, [wire])
            self._maps[home, wire, call] = (item.options, vertex)
            return Terminal(scope, ITEM)
        options, vertex = known
        if options != item.options:
            problem = EACH_OPTIONS_DIFFER(source=wire.label, this=reader.spot, other=vertex.spot)
            self._graph.problem(problem, reader.spot)
        assert isinstance(vertex.action, MapAction)
        return Terminal(vertex.action.scope, ITEM)

    def _list(self, source: Source, reader: _Reader) -> Terminal | None:
        """Resolve what a map goes over; the same constant is the same list."""
        if not isinstance(source, Literally):
            return self.wire(source, reader)
        if source not in self._lists:
            self._lists[source] = Terminal(Constant(source.value, source.is_json), "value")
        return self._lists[source]

    def _every(self, sources: tuple[Source, ...], reader: _Reader) -> Terminal | None:
        """Open a map over edges (S7.4); equal calls in one block share one map."""
        wires = [wire for source in sources if (wire := self.wire(source, reader)) is not None]
        if not sources:
            self._graph.problem(JOIN_EMPTY(join="every"), reader.spot)
        if not wires or len(wires) < len(sources):
            return None
        label = f"every({', '.join(wire.label for wire in wires)})"
        scope = Scope(ScopeKind.MAP, parameters={ITEM: None}, label=label)
        action = MapAction(scope, EachOptions(), {ITEM: ITEM}, named=False, is_every=True)
        scope.owner = vertex = self._add(reader.id, action, reader)
        vertex.inputs[ITEM] = Input(ITEM, wires)
        return Terminal(scope, ITEM)

    def _add(
        self, id: str, action: JoinAction | CollectAction | MapAction, reader: _Reader, label: str = ""
    ) -> Vertex:
        scope = reader.names.scope
        vertex = Vertex(id, reader.order, action, scope, reader.spot._replace(scope=scope), label)
        self._graph.vertices.append(vertex)
        return vertex

    def reference(self, reference: Reference, reader: _Reader) -> Terminal | None:
        """Look a port up, from the block of the reader outwards."""
        found = reader.names.find(reference)
        if found is None:
            self._graph.problem(_unreadable(reference, reader.names), reader.spot)
        return found


def _unreadable(reference: Reference, names: Names) -> Diagnostic:
    """Describe why a port cannot be read in a block."""
    if (kind := SCOPES.get(reference.node)) is not None:
        scopes = (outer.scope for outer in names.outwards() if outer.scope.kind is kind)
        known = [f"{reference.node}.{name}" for scope in scopes for name in scope.parameters]
        return NAME_UNKNOWN(what="parameter", name=reference, available=known, advice="")
    vertex = names.vertex(reference.node)
    if vertex is None:
        nodes = (encode(name) for outer in names.outwards() for name in outer.vertices)
        count = sum(len(outer.vertices) for outer in names.outwards())
        advice = f"write ${reference} for a parameter" if f"${reference.node}" in SCOPES else ""
        return NAME_UNKNOWN(what="node", name=reference.node, available=nodes, out_of=count, advice=advice)
    if names.is_inside(vertex):
        return READ_BEFORE_THE_END(source=reference, what=vertex.kind)
    owner, known, name = f"{vertex.kind} {vertex.id!r}", [*vertex.output_names], reference.port
    outputs = vertex.action.type.outputs if isinstance(vertex.action, CallAction) else {}
    advice = field_advice(outputs, name)
    return PORT_UNKNOWN(owner=owner, which="output", name=name, available=known, advice=advice)


def _home_of(terminal: Terminal) -> Scope | None:
    """Return the block in which a terminal is made."""
    match terminal.owner:
        case Vertex(home=home):
            return home
        case Scope(kind=ScopeKind.MAP, owner=Vertex(home=home, action=MapAction(named=False))):
            return home
        case _:
            return None
