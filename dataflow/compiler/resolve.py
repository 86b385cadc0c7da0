"""From wiring to graph: every name is looked up, every port gets its wires (S1.5, S1.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.base.wording import choices
from dataflow.compiler.declarations import Declarations
from dataflow.compiler.graph import CallAction, Graph, Input, LoopAction, MapAction, RoundEdge, Spot, Vertex
from dataflow.compiler.sources import SourceReader, Sources
from dataflow.core.ports import DONE
from dataflow.core.wiring import (
    CARRY,
    All,
    Literally,
    LoopBlock,
    Many,
    MapBlock,
    PlacedNode,
    Reference,
    encode,
)

if TYPE_CHECKING:
    from dataflow.compiler.declarations import Names
    from dataflow.compiler.graph import Steps, Terminal
    from dataflow.compiler.lookup import FindFunction, FindType
    from dataflow.core.wiring import Block, Edge, Placed, Source, Wiring

__all__ = ["resolve"]


def resolve(wiring: Wiring, find_type: FindType, find_function: FindFunction) -> Graph:
    """Look every name up; the problems found are in the graph."""
    declared = Declarations(wiring, find_type, find_function)
    _Connecting(declared).connect(wiring.block)
    return declared.graph


class _Connecting:
    """Gives every vertex its wires."""

    def __init__(self, declared: Declarations) -> None:
        self.declared = declared
        self.graph = declared.graph
        self.sources = Sources(declared.graph, declared.lookup)

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
            spot = Spot(f"output {name!r}", self.graph.root, ("outputs", name))
            reader = SourceReader(self.declared.root, spot, "each", 2 * len(root.nodes))
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
                self._misplaced(
                    edge, names, f"{edge.target!r} is a {vertex.kind}, which is not wired by edges"
                )
            else:
                known = choices(names.vertices, write=encode)
                self._misplaced(edge, names, f"no node {edge.target!r} in this block; {known}")

    def _misplaced(self, edge: Edge, names: Names, why: str) -> None:
        steps: tuple[str | int, ...] = ("nodes", edge.target, "inputs", edge.target_port)
        if edge.index is not None:  # it stands among the edges of a document
            steps = ("edges", edge.index)
        spot = Spot(f"port '{edge.target}.{edge.target_port}'", names.scope, steps)
        self.graph.problem(f"edge {edge.source} -> {edge.target}.{edge.target_port}: {why}", spot)

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
                spot = vertex.spot_of(port, steps)
                told = f"{spot} is wired by edges and by a source of its own; use one"
                self.graph.problem(told, spot)
                continue
            given = given or self._open(vertex, port, steps)
            for one in source.sources if isinstance(source, Many) else (source,):
                self._add(vertex, given, one, names, steps)

    def _begins(self, given: Input) -> bool:
        """Tell whether a port has feedback edges alone, so that a source of its own counts before them."""
        feedback = [one for one in self.graph.round_edges if one.given is given and one.rounds.feedback]
        return len(feedback) == len(given.wires)

    def _connect_after(self, placed: Placed, names: Names) -> None:
        vertex = names.vertices[placed.id]
        given = Input("$after", [])
        for node in placed.after:
            self._add(vertex, given, Reference(node, DONE), names, ("nodes", vertex.id, "after"))
        vertex.inputs["$after"] = given

    def _open(self, vertex: Vertex, port: str, steps: Steps) -> Input:
        action = vertex.action
        assert isinstance(action, CallAction), "only nodes have ports that are wired by name"
        declared = action.type.inputs.get(port)
        given = Input(port, [], declared, declared is None or declared.required, steps)
        if declared is not None or action.type.is_opaque:
            vertex.inputs[port] = given
        else:  # what is wrong with its sources is told at once
            known = choices(action.type.inputs)
            told = f"node {vertex.id!r} ({action.type.id}) has no input port {port!r}; {known}"
            self.graph.problem(told, vertex.spot_of(port, steps))
        return given

    def _add(
        self, vertex: Vertex, given: Input, source: Source, names: Names, steps: Steps
    ) -> Terminal | None:
        """Add what a source brings to a port; `steps` lead to what is not among the inputs of its node."""
        spot = vertex.spot_of(given.name, steps)
        wire = self.sources.wire(source, SourceReader(names, spot, vertex.id, vertex.order - 1))
        if wire is not None:
            given.wires.append(wire)
        return wire

    def _connect_loop(self, loop: LoopBlock, vertex: Vertex, names: Names) -> None:
        action = vertex.action
        assert isinstance(action, LoopAction)
        inside = self.declared.inside(loop.body)
        order = 2 * len(loop.body.nodes)
        for name, carried in loop.carries.items():
            label = f"'$carry.{name}' of loop {loop.id!r}"
            spot = Spot(label, names.scope, (*vertex.spot.steps, "loop", "carry", name))
            first = self.sources.wire(
                carried.first, SourceReader(names, spot.within("first"), loop.id, vertex.order - 1)
            )
            vertex.inputs[name] = Input(name, [first] if first else [], required=False)
            if carried.next is None:
                self.graph.problem(f"{label} has no next value", spot)
                continue
            spot = Spot(f"next value of {label}", inside.scope, ("carry", name, "next"))
            if next_wire := self.sources.wire(carried.next, SourceReader(inside, spot, "each", order)):
                action.nexts[name] = next_wire
        if loop.test is not None:
            spot = Spot(f"the test of loop {loop.id!r}", inside.scope, (loop.test.kind,))
            action.test_wire = self.sources.wire(loop.test.source, SourceReader(inside, spot, "each", order))
        for name, source in loop.body.outputs.items():
            if isinstance(source, Reference) and source.node == CARRY and source.port in loop.carries:
                action.finals[name] = source.port
                continue
            each_round = source.source if isinstance(source, All) else source
            spot = Spot(f"output '{loop.id}.{name}'", inside.scope, ("outputs", name))
            reader = SourceReader(inside, spot, "each", order)
            if wire := self.sources.wire(each_round, reader):
                action.results[name] = wire
            if isinstance(source, All):
                action.alls.add(name)

    def _connect_map(self, placed: MapBlock, vertex: Vertex, names: Names) -> None:
        action = vertex.action
        assert isinstance(action, MapAction)
        inside = self.declared.inside(placed.body)
        for name, source in placed.over.items():
            label = f"'$item.{name}' of map {placed.id!r}"
            spot = Spot(label, names.scope, (*vertex.spot.steps, "map", "over", name))
            wire = self.sources.wire(source, SourceReader(names, spot, placed.id, vertex.order - 1))
            vertex.inputs[name] = Input(name, [wire] if wire else [])
            action.lists[name] = name
        for name, source in placed.body.outputs.items():
            spot = Spot(f"output '{placed.id}.{name}'", inside.scope, ("outputs", name))
            reader = SourceReader(inside, spot, "each", 2 * len(placed.body.nodes))
            if (wire := self.sources.wire(source, reader)) is not None:
                action.collects[name] = wire

    def _require(self, vertex: Vertex) -> None:
        if not isinstance(vertex.action, CallAction):
            return
        for port in vertex.action.required:
            if port not in vertex.inputs:
                self.graph.problem(
                    f"port '{vertex.id}.{port}' is required and has neither an edge nor a constant",
                    vertex.spot,
                )
