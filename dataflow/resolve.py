"""From wiring to graph: every name is looked up, every expression becomes a vertex (S1.5, S1.7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from dataflow.errors import DataflowError, FlowInvalid, choices
from dataflow.graph import (
    CallAction,
    CollectAction,
    Constant,
    Graph,
    Input,
    Join,
    JoinAction,
    LoopAction,
    MapAction,
    Scope,
    ScopeKind,
    Terminal,
    Vertex,
    Wire,
)
from dataflow.nodetype import opaque_type
from dataflow.ports import DONE, ERROR
from dataflow.wiring import (
    CARRY,
    INPUT,
    ITEM,
    Block,
    Collect,
    Each,
    Fallback,
    Gather,
    Literally,
    LoopBlock,
    Many,
    MapBlock,
    Merge,
    PlacedNode,
    Reference,
    Source,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataflow.nodetype import NodeType
    from dataflow.policy import EachOptions
    from dataflow.wiring import Placed, Wiring

__all__ = ["FindType", "resolve"]

FindType: TypeAlias = "Callable[[str], NodeType]"


@dataclass(slots=True, eq=False)
class Names:
    """The names of one block, looked up outwards."""

    scope: Scope
    around: Names | None = None
    vertices: dict[str, Vertex] = field(default_factory=dict)

    def outwards(self) -> Iterator[Names]:
        names: Names | None = self
        while names is not None:
            yield names
            names = names.around


@dataclass(slots=True, eq=False)
class Reader:
    """Who a source is resolved for: in which block, as what, and where in its order."""

    names: Names
    label: str  # for messages: "port 'join.title'"
    id: str  # names the map that it is the first to read
    position: int


def resolve(wiring: Wiring, find_type: FindType) -> Graph:
    """Look every name up; the problems found are in the graph."""
    resolver = _Resolver(wiring, find_type)
    resolver.declare()
    resolver.connect()
    return resolver.graph


class _Resolver:
    def __init__(self, wiring: Wiring, find_type: FindType) -> None:
        self.wiring = wiring
        self.find_type = find_type
        root = Scope(ScopeKind.ROOT, parameters=dict.fromkeys(wiring.inputs))
        self.graph = Graph(wiring.name, root, problems=list(wiring.problems))
        self.graph.input_types = {name: given.type for name, given in wiring.inputs.items()}
        self.names = Names(root)
        self.blocks: list[tuple[Block, Names]] = []
        self.joins: dict[tuple[int, Source], Wire | None] = {}
        self.maps: dict[Terminal, tuple[EachOptions, Vertex]] = {}
        self.counts: dict[str, int] = {}

    def problem(self, text: str) -> None:
        self.graph.problems.append(text)

    # declaring: a vertex for each entry of each block

    def declare(self) -> None:
        """Make the vertices of all blocks, so that later sources may name any of them."""
        self.blocks.append((self.wiring.block, self.names))
        for block, names in self.blocks:  # grows while it is walked
            for position, placed in enumerate(block.nodes.values()):
                self._declare_one(placed, names, position)

    def _declare_one(self, placed: Placed, names: Names, position: int) -> None:
        if any(placed.id in outer.vertices for outer in names.outwards()):
            self.problem(f"node id {placed.id!r} shadows a node of an outer block; rename one of them")
        vertex = Vertex(placed.id, (position, 0), names.scope, self._action(placed))
        match vertex.action:
            case LoopAction(scope=scope) | MapAction(scope=scope):
                scope.owner = vertex
                assert isinstance(placed, LoopBlock | MapBlock)
                self.blocks.append((placed.body, Names(scope, names)))
        names.vertices[placed.id] = vertex
        self.graph.vertices.append(vertex)

    def _action(self, placed: Placed) -> CallAction | LoopAction | MapAction:
        match placed:
            case PlacedNode():
                return self._call(placed)
            case LoopBlock():
                if placed.limit is not None and placed.limit <= 0:
                    self.problem(f"loop {placed.id!r}: limit must be 1 or more, or None for no limit, found {placed.limit}")
                if placed.limit is None and placed.test is None:
                    self.problem(f"loop {placed.id!r} has neither a limit nor a test: it would never end")
                return LoopAction(placed, Scope(ScopeKind.LOOP, parameters=dict.fromkeys(placed.carries)), placed.test)
            case MapBlock():
                if not placed.over:
                    self.problem(f"map {placed.id!r} goes over nothing: `over` names its lists")
                scope = Scope(ScopeKind.MAP, parameters=dict.fromkeys(placed.over))
                return MapAction(scope, placed.options, outputs=tuple(placed.body.outputs))
        raise AssertionError(f"unknown entry {placed!r}")

    def _call(self, placed: PlacedNode) -> CallAction:
        node_type = placed.type
        if isinstance(node_type, str):
            try:
                node_type = self.find_type(node_type)
            except DataflowError as error:
                self.problem(f"node {placed.id!r}: {error}")
                node_type = opaque_type(node_type)
            if node_type.is_opaque:
                self.graph.opaque.append(node_type.id)
        if node_type.is_opaque:
            return CallAction(node_type, placed.policy)
        config, problems = node_type.read_config(placed.config, placed.config_is_json)
        for text in problems:
            self.problem(f"node {placed.id!r} ({node_type.id}): {text}")
        if not problems:
            try:
                node_type = node_type.configured(config)
            except FlowInvalid as invalid:
                for text in invalid.problems:
                    self.problem(f"node {placed.id!r}: {text}")
        return CallAction(node_type, placed.policy.over(node_type.policy), config)

    # connecting: sources become wires

    def connect(self) -> None:
        """Resolve every source of every block, then the outputs of the flow."""
        for block, names in self.blocks:
            self._connect_edges(block, names)
            for placed in block.nodes.values():
                self._connect_one(placed, names)
        for name, source in self.wiring.block.outputs.items():
            reader = Reader(self.names, f"output {name!r}", "each", len(self.wiring.block.nodes))
            if (wire := self._wire(source, reader)) is not None:
                self.graph.outputs[name] = wire
        for vertex in self.graph.vertices:
            self._require(vertex)

    def _connect_edges(self, block: Block, names: Names) -> None:
        for edge in block.edges:
            where = f"edge {edge.source} -> {edge.target}.{edge.target_port}"
            vertex = names.vertices.get(edge.target)
            if vertex is None:
                self.problem(f"{where}: no node {edge.target!r} in this block; {choices(list(names.vertices))}")
            elif not isinstance(vertex.action, CallAction):
                self.problem(f"{where}: {edge.target!r} is a {_kind(vertex)}; its ports are not wired by edges")
            else:
                self._feed(vertex, edge.target_port, (edge.source,), self._reader(vertex, edge.target_port, names))

    def _connect_one(self, placed: Placed, names: Names) -> None:
        vertex = names.vertices[placed.id]
        match placed:
            case PlacedNode():
                for port, source in placed.inputs.items():
                    sources = source.sources if isinstance(source, Many) else (source,)
                    if port in vertex.inputs:
                        self.problem(f"port '{placed.id}.{port}' is wired by edges and has a source of its own; use one of them")
                    self._feed(vertex, port, sources, self._reader(vertex, port, names))
            case LoopBlock():
                self._connect_loop(placed, vertex, names)
            case MapBlock():
                self._connect_map(placed, vertex, names)
        if placed.after:
            reader = self._reader(vertex, "$after", names)
            found = [self._reference(Reference(node, DONE), reader) for node in placed.after]
            wires = [wire for wire in found if wire is not None]
            vertex.inputs["$after"] = Input("$after", wires)

    def _reader(self, vertex: Vertex, port: str, names: Names) -> Reader:
        return Reader(names, f"port '{vertex.id}.{port}'", vertex.id, vertex.order[0])

    def _feed(self, vertex: Vertex, port: str, sources: tuple[Source, ...], reader: Reader) -> None:
        action = vertex.action
        assert isinstance(action, CallAction), "only nodes have ports that are wired by name"
        declared = action.type.inputs.get(port)
        if declared is None and not action.type.is_opaque:
            self.problem(f"node {vertex.id!r} ({action.type.id}) has no input port {port!r}; {choices(list(action.type.inputs))}")
            return
        given = vertex.inputs.setdefault(port, Input(port, [], declared, declared is None or declared.required))
        given.wires.extend(wire for source in sources if (wire := self._wire(source, reader)) is not None)

    def _connect_loop(self, loop: LoopBlock, vertex: Vertex, names: Names) -> None:
        action = vertex.action
        assert isinstance(action, LoopAction)
        inside = next(inner for block, inner in self.blocks if block is loop.body)
        position = len(loop.body.nodes)
        for name, carried in loop.carries.items():
            label = f"'$carry.{name}' of loop {loop.id!r}"
            first = self._wire(carried.first, Reader(names, label, loop.id, vertex.order[0]))
            vertex.inputs[name] = Input(name, [first] if first else [], required=False)
            if carried.next is None:
                self.problem(f"{label} has no next value")
            elif (next_wire := self._wire(carried.next, Reader(inside, f"next value of {label}", "each", position))):
                action.nexts[name] = next_wire
        if loop.test is not None:
            action.test_wire = self._wire(loop.test.source, Reader(inside, f"the test of loop {loop.id!r}", "each", position))
        for name, source in loop.body.outputs.items():
            if isinstance(source, Reference) and source.node == CARRY and source.port in loop.carries:
                action.finals[name] = source.port
            elif (wire := self._wire(source, Reader(inside, f"output '{loop.id}.{name}'", "each", position))):
                action.results[name] = wire

    def _connect_map(self, placed: MapBlock, vertex: Vertex, names: Names) -> None:
        action = vertex.action
        assert isinstance(action, MapAction)
        inside = next(inner for block, inner in self.blocks if block is placed.body)
        for name, source in placed.over.items():
            wire = self._wire(source, Reader(names, f"'$item.{name}' of map {placed.id!r}", placed.id, vertex.order[0]))
            vertex.inputs[name] = Input(name, [wire] if wire else [])
            action.lists[name] = name
        for name, source in placed.body.outputs.items():
            reader = Reader(inside, f"output '{placed.id}.{name}'", "each", len(placed.body.nodes))
            if (wire := self._wire(source, reader)) is not None:
                action.collects[name] = wire

    # sources

    def _wire(self, source: Source, reader: Reader) -> Wire | None:
        match source:
            case Reference():
                return self._reference(source, reader)
            case Literally():
                return Wire(Terminal(Constant(source.value, source.is_json), "value"), "a constant")
        key = (id(reader.names), source)
        if key not in self.joins:
            self.joins[key] = self._expression(source, reader)
        return self.joins[key]

    def _expression(self, source: Source, reader: Reader) -> Wire | None:
        match source:
            case Merge(sources):
                return self._join(Join.MERGE, sources, reader)
            case Gather(sources):
                return self._join(Join.GATHER, sources, reader)
            case Fallback(first, default):
                return self._join(Join.FALLBACK, (first, default), reader)
            case Each(inner, options):
                return self._each(inner, options, reader)
            case Collect(inner):
                wire = self._wire(inner, reader)
                if wire is None:
                    return None
                vertex = self._add("collect", CollectAction(wire), reader)
                return Wire(Terminal(vertex, "out"), f"collect({wire.label})")
        raise AssertionError(f"unknown source {source!r}")

    def _join(self, mode: Join, sources: tuple[Source, ...], reader: Reader) -> Wire | None:
        if not sources:
            self.problem(f"{reader.label}: {mode.value} needs at least one source")
            return None
        wires = [wire for source in sources if (wire := self._wire(source, reader)) is not None]
        if len(wires) < len(sources):
            return None
        vertex = self._add(mode.value, JoinAction(mode), reader)
        vertex.inputs["sources"] = Input("sources", wires)
        return Wire(Terminal(vertex, "out"), f"{mode.value}({', '.join(wire.label for wire in wires)})")

    def _each(self, source: Source, options: EachOptions, reader: Reader) -> Wire | None:
        wire = self._wire(source, reader)
        if wire is None:
            return None
        known = self.maps.get(wire.source)
        if known is not None and known[1].home is reader.names.scope:
            if known[0] != options:
                self.problem(f"{reader.label}: each({wire.label}) has other options than the same each read by "
                             f"{known[1].id!r}; two calls share a map only with equal options (S7.1)")
            vertex = known[1]
        else:
            scope = Scope(ScopeKind.MAP, parameters={"item": None})
            vertex = self._add(reader.id, MapAction(scope, options, {"item": "item"}, named=False), reader)
            scope.owner = vertex
            vertex.inputs["item"] = Input("item", [wire])
            self.maps[wire.source] = (options, vertex)
        action = vertex.action
        assert isinstance(action, MapAction)
        return Wire(Terminal(action.scope, "item"), f"each({wire.label})")

    def _add(self, id: str, action: JoinAction | CollectAction | MapAction, reader: Reader) -> Vertex:
        vertex = Vertex(id, (reader.position, -1), reader.names.scope, action)
        self.graph.vertices.append(vertex)
        return vertex

    def _reference(self, reference: Reference, reader: Reader) -> Wire | None:
        kinds = {INPUT: ScopeKind.ROOT, CARRY: ScopeKind.LOOP, ITEM: ScopeKind.MAP}
        if reference.node in kinds:
            return self._parameter(reference, kinds[reference.node], reader)
        for names in reader.names.outwards():
            if (vertex := names.vertices.get(reference.node)) is not None:
                return self._output(vertex, reference, reader)
        known = [name for names in reader.names.outwards() for name in names.vertices]
        self.problem(f"{reader.label} reads '{reference}': no node {reference.node!r}; {choices(known)}")
        return None

    def _parameter(self, reference: Reference, kind: ScopeKind, reader: Reader) -> Wire | None:
        scopes = [names.scope for names in reader.names.outwards() if names.scope.kind is kind]
        for scope in scopes:
            if reference.port in scope.parameters:
                return Wire(Terminal(scope, reference.port), str(reference))
        known = [name for scope in scopes for name in scope.parameters]
        self.problem(f"{reader.label} reads '{reference}', which does not exist here; {choices(known)}")
        return None

    def _output(self, vertex: Vertex, reference: Reference, reader: Reader) -> Wire | None:
        ports = output_names(vertex)
        if reference.port in ports or reference.port in (DONE, ERROR) or _is_opaque(vertex):
            return Wire(Terminal(vertex, reference.port), str(reference))
        self.problem(f"{reader.label} reads '{reference}': {_kind(vertex)} {vertex.id!r} has no output port "
                     f"{reference.port!r}; {choices(ports)}")
        return None

    def _require(self, vertex: Vertex) -> None:
        action = vertex.action
        if not isinstance(action, CallAction):
            return
        for port in action.type.inputs.values():
            if port.required and port.name not in vertex.inputs:
                self.problem(f"port '{vertex.id}.{port.name}' is required and has neither an edge nor a constant")


def output_names(vertex: Vertex) -> list[str]:
    """List the output ports of a vertex, `$done` and `$error` aside."""
    match vertex.action:
        case CallAction(type=node_type):
            return list(node_type.outputs)
        case LoopAction(block=block):
            return list(block.body.outputs)
        case MapAction(outputs=outputs):
            return list(outputs)
        case JoinAction() | CollectAction():
            return ["out"]


def _is_opaque(vertex: Vertex) -> bool:
    return isinstance(vertex.action, CallAction) and vertex.action.type.is_opaque


def _kind(vertex: Vertex) -> str:
    match vertex.action:
        case LoopAction():
            return "loop"
        case MapAction():
            return "map"
        case CallAction() | JoinAction() | CollectAction():
            return "node"
