"""Declaring: a vertex for each entry of each block, before any name is looked up (S1.2)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dataflow.errors import FlowInvalid
from dataflow.graph import (
    CallAction,
    CollectAction,
    Graph,
    JoinAction,
    LoopAction,
    MapAction,
    Scope,
    ScopeKind,
    Spot,
    Vertex,
)
from dataflow.lookup import Lookup
from dataflow.nodetype import ConfigProblem, opaque_type
from dataflow.wiring import PARAMETERS, LoopBlock, MapBlock, PlacedNode
from dataflow.wording import choices

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

    def _declare(self, placed: Placed, names: Names, position: int) -> None:
        spot = Spot(f"{_kind_of(placed)} {placed.id!r}", names.scope, ("nodes", placed.id))
        if placed.id in ("", *PARAMETERS):
            self.graph.problem(f"node id {placed.id!r} is reserved; give the node another name", spot)
        if any(placed.id in outer.vertices for outer in names.outwards()):
            self.graph.problem(
                f"node id {placed.id!r} shadows a node of an outer block; rename one of them", spot
            )
        vertex = Vertex(placed.id, (position, 0), spot, self._action(placed, spot))
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

    def _action(self, placed: Placed, spot: Spot) -> CallAction | LoopAction | MapAction:
        match placed:
            case PlacedNode():
                return self._call(placed, spot)
            case LoopBlock():
                self._check_limit(placed, spot.within("loop"))
                scope = Scope(ScopeKind.LOOP, parameters=dict.fromkeys(placed.carries))
                return LoopAction(placed, scope, self.lookup.test(placed, spot))
            case MapBlock():
                if not placed.over:
                    self.graph.problem(
                        f"{spot} goes over nothing: `over` names its lists", spot.within("map", "over")
                    )
                scope = Scope(ScopeKind.MAP, parameters=dict.fromkeys(placed.over))
                options = self.lookup.options(placed.options, spot.within("map"))
                return MapAction(scope, options, outputs=tuple(placed.body.outputs))

    def _check_limit(self, loop: LoopBlock, spot: Spot) -> None:
        if loop.limit is not None and (type(loop.limit) is not int or loop.limit <= 0):
            told = f"limit must be a whole number of 1 or more, or None, found {loop.limit!r}"
            self.graph.problem(f"{spot}: {told}", spot)
        if loop.on_limit not in ("exit", "fail"):
            known = choices(("exit", "fail"))
            self.graph.problem(f"{spot}: on_limit cannot be {loop.on_limit!r}; {known}", spot)
        if loop.limit is None and loop.test is None:
            self.graph.problem(
                f"{spot} has neither a limit nor a test: it would never end", spot.within("limit")
            )

    def _call(self, placed: PlacedNode, spot: Spot) -> CallAction:
        node_type = self.lookup.type(placed.type, spot)
        if node_type.is_opaque:
            return CallAction(node_type, placed.policy)
        config, problems = node_type.read_config(placed.config, placed.config_is_json)
        if not problems:
            config = self.lookup.config(config, spot)
            try:
                node_type = node_type.configured(config)
            except FlowInvalid as invalid:
                problems = [ConfigProblem(text) for text in invalid.problems]
        for text, steps in problems:
            self.graph.problem(f"{spot} ({node_type.id}): {text}", spot.within("config", *steps))
        if problems and node_type.ports_of is not None:  # which ports it has is not known
            node_type = replace(opaque_type(node_type.id), policy=node_type.policy)
        return CallAction(node_type, placed.policy.over(node_type.policy), config)


def _kind_of(placed: Placed) -> str:
    match placed:
        case LoopBlock():
            return "loop"
        case MapBlock():
            return "map"
        case PlacedNode():
            return "node"


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
