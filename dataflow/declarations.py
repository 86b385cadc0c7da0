"""Declaring: a vertex for each entry of each block, before any name is looked up (S1.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dataflow.errors import FlowInvalid, choices
from dataflow.graph import (
    CallAction,
    CollectAction,
    Graph,
    JoinAction,
    LoopAction,
    MapAction,
    Scope,
    ScopeKind,
    Vertex,
)
from dataflow.lookup import Lookup
from dataflow.wiring import PARAMETERS, LoopBlock, MapBlock, PlacedNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow.lookup import FindFunction, FindType
    from dataflow.wiring import Block, Placed, Wiring

__all__ = ["Declarations", "Names", "kind_of_vertex", "output_names"]


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


class Declarations:
    """The graph of a flow as declared, and the names that each of its blocks has."""

    def __init__(self, wiring: Wiring, find_type: FindType, find_function: FindFunction) -> None:
        root = Scope(ScopeKind.ROOT, parameters=dict.fromkeys(wiring.inputs))
        self.graph = Graph(wiring, root, problems=list(wiring.problems))
        self.lookup = Lookup(self.graph, find_type, find_function)
        self.blocks: list[tuple[Block, Names]] = [(wiring.block, Names(root))]
        self._inside = {id(wiring.block): self.root}
        for block, names in self.blocks:  # grows while it is walked
            for position, placed in enumerate(block.nodes.values()):
                self._declare(placed, names, position)

    @property
    def root(self) -> Names:
        return self.blocks[0][1]

    def inside(self, body: Block) -> Names:
        """Return the names of a body."""
        return self._inside[id(body)]

    def problem(self, text: str) -> None:
        self.graph.problems.append(text)

    def _declare(self, placed: Placed, names: Names, position: int) -> None:
        if placed.id in ("", *PARAMETERS):
            self.problem(f"node id {placed.id!r} is reserved; give the node another name")
        if any(placed.id in outer.vertices for outer in names.outwards()):
            self.problem(f"node id {placed.id!r} shadows a node of an outer block; rename one of them")
        vertex = Vertex(placed.id, (position, 0), names.scope, self._action(placed))
        match vertex.action:
            case LoopAction(scope=scope) | MapAction(scope=scope):
                scope.owner = vertex
                assert isinstance(placed, LoopBlock | MapBlock)
                inner = self._inside[id(placed.body)] = Names(scope, names)
                self.blocks.append((placed.body, inner))
            case _:
                pass
        names.vertices[placed.id] = vertex
        self.graph.vertices.append(vertex)

    def _action(self, placed: Placed) -> CallAction | LoopAction | MapAction:
        match placed:
            case PlacedNode():
                return self._call(placed)
            case LoopBlock():
                if placed.limit is not None and (type(placed.limit) is not int or placed.limit <= 0):
                    found = repr(placed.limit)
                    told = f"limit must be a whole number of 1 or more, or None, found {found}"
                    self.problem(f"loop {placed.id!r}: {told}")
                if placed.on_limit not in ("exit", "fail"):
                    known = choices(("exit", "fail"))
                    self.problem(f"loop {placed.id!r}: on_limit cannot be {placed.on_limit!r}; {known}")
                if placed.limit is None and placed.test is None:
                    self.problem(f"loop {placed.id!r} has neither a limit nor a test: it would never end")
                scope = Scope(ScopeKind.LOOP, parameters=dict.fromkeys(placed.carries))
                return LoopAction(placed, scope, self.lookup.test(placed))
            case MapBlock():
                if not placed.over:
                    self.problem(f"map {placed.id!r} goes over nothing: `over` names its lists")
                scope = Scope(ScopeKind.MAP, parameters=dict.fromkeys(placed.over))
                options = self.lookup.options(placed.options, f"map {placed.id!r}")
                return MapAction(scope, options, outputs=tuple(placed.body.outputs))

    def _call(self, placed: PlacedNode) -> CallAction:
        where = f"node {placed.id!r}"
        node_type = self.lookup.type(placed.type, where)
        if node_type.is_opaque:
            return CallAction(node_type, placed.policy)
        config, problems = node_type.read_config(placed.config, placed.config_is_json)
        for text in problems:
            self.problem(f"{where} ({node_type.id}): {text}")
        if not problems:
            config = self.lookup.config(config, where)
            try:
                node_type = node_type.configured(config)
            except FlowInvalid as invalid:
                for text in invalid.problems:
                    self.problem(f"{where} ({node_type.id}): {text}")
        return CallAction(node_type, placed.policy.over(node_type.policy), config)


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


def kind_of_vertex(vertex: Vertex) -> str:
    """Say what a vertex is, for messages."""
    match vertex.action:
        case LoopAction():
            return "loop"
        case MapAction():
            return "map"
        case CallAction() | JoinAction() | CollectAction():
            return "node"
