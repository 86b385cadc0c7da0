"""From wiring to graph: every name is looked up, every port gets its wires (S1.5, S1.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.declarations import Declarations, kind_of_vertex
from dataflow.graph import CallAction, Graph, Input, LoopAction, MapAction, Spot, Vertex
from dataflow.names import encode
from dataflow.ports import DONE
from dataflow.sources import Reader, Sources
from dataflow.wiring import CARRY, All, Literally, LoopBlock, Many, MapBlock, PlacedNode, Reference
from dataflow.wording import choices

if TYPE_CHECKING:
    from dataflow.declarations import Names
    from dataflow.lookup import FindFunction, FindType
    from dataflow.wiring import Block, Edge, Placed, Source, Wiring

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
                self._connect_one(placed, names)
        for name, source in root.outputs.items():
            spot = Spot(f"output {name!r}", self.graph.root, ("outputs", name))
            reader = Reader(self.declared.root, spot, "each", len(root.nodes))
            if (wire := self.sources.wire(source, reader)) is not None:
                self.graph.outputs[name] = wire
        for vertex in self.graph.vertices:
            self._require(vertex)

    def _connect_edges(self, block: Block, names: Names) -> None:
        for edge in block.edges:
            steps: tuple[str | int, ...] = ("nodes", edge.target, "inputs", edge.target_port)
            if edge.index is not None:  # it stands among the edges of a document
                steps = ("edges", edge.index)
            spot = Spot(f"port '{edge.target}.{edge.target_port}'", names.scope, steps)
            vertex = names.vertices.get(edge.target)
            if vertex is None:
                known = f"no node {edge.target!r} in this block; {choices(names.vertices, write=encode)}"
                self.graph.problem(f"{_described(edge)}: {known}", spot)
            elif not isinstance(vertex.action, CallAction):
                kind = kind_of_vertex(vertex)
                told = f"{edge.target!r} is a {kind}, which is not wired by edges"
                self.graph.problem(f"{_described(edge)}: {told}", spot)
            else:
                reader = Reader(names, spot, vertex.id, vertex.order[0])
                self._feed(vertex, edge.target_port, (edge.source,), reader)

    def _connect_one(self, placed: Placed, names: Names) -> None:
        vertex = names.vertices[placed.id]
        match placed:
            case PlacedNode():
                for port, source in placed.inputs.items():
                    sources = source.sources if isinstance(source, Many) else (source,)
                    is_value = isinstance(source, Literally) and not source.is_source
                    kind = "values" if is_value else "inputs"
                    reader = self._reader(vertex, port, names, kind, port)
                    if port in vertex.inputs:
                        told = f"{reader.spot} is wired by edges and by a source of its own; use one"
                        self.graph.problem(told, reader.spot)
                    else:
                        self._feed(vertex, port, sources, reader)
            case LoopBlock():
                self._connect_loop(placed, vertex, names)
            case MapBlock():
                self._connect_map(placed, vertex, names)
        if placed.after:
            reader = self._reader(vertex, "$after", names, "after")
            found = [self.sources.reference(Reference(node, DONE), reader) for node in placed.after]
            wires = [wire for wire in found if wire is not None]
            vertex.inputs["$after"] = Input("$after", wires)

    def _reader(self, vertex: Vertex, port: str, names: Names, *steps: str) -> Reader:
        spot = Spot(f"port '{vertex.id}.{port}'", names.scope, (*vertex.spot.steps, *steps))
        return Reader(names, spot, vertex.id, vertex.order[0])

    def _feed(self, vertex: Vertex, port: str, sources: tuple[Source, ...], reader: Reader) -> None:
        action = vertex.action
        assert isinstance(action, CallAction), "only nodes have ports that are wired by name"
        declared = action.type.inputs.get(port)
        if declared is None and not action.type.is_opaque:
            known = choices(action.type.inputs)
            told = f"node {vertex.id!r} ({action.type.id}) has no input port {port!r}; {known}"
            self.graph.problem(told, reader.spot)
            for source in sources:  # what is wrong with them is told at once
                self.sources.wire(source, reader)
            return
        is_required = declared is None or declared.required
        given = vertex.inputs.setdefault(port, Input(port, [], declared, is_required, reader.spot))
        given.wires.extend(
            wire for source in sources if (wire := self.sources.wire(source, reader)) is not None
        )

    def _connect_loop(self, loop: LoopBlock, vertex: Vertex, names: Names) -> None:
        action = vertex.action
        assert isinstance(action, LoopAction)
        inside = self.declared.inside(loop.body)
        position = len(loop.body.nodes)
        for name, carried in loop.carries.items():
            label = f"'$carry.{name}' of loop {loop.id!r}"
            spot = Spot(label, names.scope, (*vertex.spot.steps, "loop", "carry", name))
            first = self.sources.wire(
                carried.first, Reader(names, spot.within("first"), loop.id, vertex.order[0])
            )
            vertex.inputs[name] = Input(name, [first] if first else [], required=False)
            if carried.next is None:
                self.graph.problem(f"{label} has no next value", spot)
                continue
            spot = Spot(f"next value of {label}", inside.scope, ("carry", name, "next"))
            if next_wire := self.sources.wire(carried.next, Reader(inside, spot, "each", position)):
                action.nexts[name] = next_wire
        if loop.test is not None:
            spot = Spot(f"the test of loop {loop.id!r}", inside.scope, (loop.test.kind,))
            action.test_wire = self.sources.wire(loop.test.source, Reader(inside, spot, "each", position))
        for name, source in loop.body.outputs.items():
            if isinstance(source, Reference) and source.node == CARRY and source.port in loop.carries:
                action.finals[name] = source.port
                continue
            each_round = source.source if isinstance(source, All) else source
            spot = Spot(f"output '{loop.id}.{name}'", inside.scope, ("outputs", name))
            reader = Reader(inside, spot, "each", position)
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
            wire = self.sources.wire(source, Reader(names, spot, placed.id, vertex.order[0]))
            vertex.inputs[name] = Input(name, [wire] if wire else [])
            action.lists[name] = name
        for name, source in placed.body.outputs.items():
            spot = Spot(f"output '{placed.id}.{name}'", inside.scope, ("outputs", name))
            reader = Reader(inside, spot, "each", len(placed.body.nodes))
            if (wire := self.sources.wire(source, reader)) is not None:
                action.collects[name] = wire

    def _require(self, vertex: Vertex) -> None:
        action = vertex.action
        if not isinstance(action, CallAction):
            return
        for port in action.type.inputs.values():
            if port.required and port.name not in vertex.inputs:
                self.graph.problem(
                    f"port '{vertex.id}.{port.name}' is required and has neither an edge nor a constant",
                    vertex.spot,
                )


def _described(edge: Edge) -> str:
    return f"edge {edge.source} -> {edge.target}.{edge.target_port}"
