"""Rewiring: a flow with other configs in it, which is not changed itself (S13.5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from dataflow.compiler.addresses import scopes_of
from dataflow.compiler.definition import Definition
from dataflow.compiler.plan import Call, FlowOf
from dataflow.core.nodetype import NodeType, config_problems
from dataflow.core.wiring import LoopBlock, MapBlock, PlacedNode
from dataflow.errors import FlowInvalid, ValueMismatch
from dataflow.types.validation import check_json, check_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.compiler.plan import FlowPlan, PlanNode
    from dataflow.core.config import Config
    from dataflow.core.wiring import Block, Nested

__all__ = ["PlacedConfig", "configs_of", "rewired"]


class PlacedConfig(NamedTuple):
    """The config of a node, and the ids that lead to it through blocks and nested flows."""

    config: Config
    steps: tuple[str, ...]

    def type_of(self, name: str) -> object:
        """Return the type of a field."""
        return type(self.config).model_fields[name].annotation

    def changed(self, fields: Mapping[str, object]) -> Config:
        """Return the config with these fields, each of its type or as JSON.

        Raises ValueMismatch, and FlowInvalid for what the config refuses as a whole.
        """
        model = type(self.config)
        kept = {name: getattr(self.config, name) for name in self.config.model_fields_set}
        given = {name: _read(value, self.type_of(name)) for name, value in fields.items()}
        try:
            return model.model_validate({**kept, **given})
        except ValidationError as error:
            raise FlowInvalid(self.steps[-1], [one.text for one in config_problems(error, model)]) from error


def _read(value: object, expected: object) -> object:
    try:
        return check_value(value, expected)
    except ValueMismatch as told:
        try:
            return check_json(value, expected)
        except ValueMismatch as as_json:  # of the two the one that looked deeper into the value
            raise max(told, as_json, key=lambda one: len(one.place)) from None


class _Place(NamedTuple):
    """Where the nodes of a scope were placed: in a block of a flow, which these ids lead to."""

    flow: Definition
    block: Block
    steps: tuple[str, ...] = ()

    def type_of(self, placed: PlacedNode) -> NodeType:
        if isinstance(placed.type, NodeType):
            return placed.type
        return self.flow.find_type(placed.type) if isinstance(placed.type, str) else placed.type.node_type

    def inside(self, node: PlanNode) -> _Place | None:
        """Return where the nodes inside a node were placed; None if its config has made them."""
        placed = self.block.nodes.get(node.id)
        match placed:
            case LoopBlock() | MapBlock():
                return _Place(self.flow, placed.body, (*self.steps, placed.id))
            case PlacedNode() if isinstance(node.action, FlowOf):
                flow = _flow_of(self, placed)
                if flow is None:
                    return None
                return _Place(flow, flow.wiring.block, (*self.steps, placed.id))
            case _:
                return self  # a loop or map that stands in no block of its own


def _flow_of(place: _Place, placed: PlacedNode) -> Definition | None:
    given = placed.type
    flow: Nested | None = place.type_of(placed).flow if isinstance(given, str | NodeType) else given
    return flow if isinstance(flow, Definition) else None


def configs_of(flow: Definition, plan: FlowPlan) -> dict[str, PlacedConfig]:
    """Find the configs of a flow and of the flows nested in it, by the addresses of their nodes."""
    found: dict[str, PlacedConfig] = {}
    places: dict[int, _Place | None] = {0: _Place(flow, flow.wiring.block)}
    for scope in scopes_of(plan):
        place = places[scope.number]
        for node in scope.plan.nodes:
            if node.index in scope.children:
                places[scope.children[node.index].number] = None if place is None else place.inside(node)
            placed = None if place is None else place.block.nodes.get(node.id)
            if place is None or not isinstance(placed, PlacedNode):
                continue
            if isinstance(node.action, Call | FlowOf):
                given = placed.config, placed.config_is_json, placed.folder
                config, _ = place.type_of(placed).read_config(*given)
                if config is not None:
                    found[scope.address_of(node)] = PlacedConfig(config, (*place.steps, node.id))
    return found


def rewired(flow: Definition, changes: Mapping[tuple[str, ...], Config]) -> Definition:
    """Return the flow with other configs at these steps."""
    for steps, config in changes.items():
        block = _with_config(_Place(flow, flow.wiring.block), steps, config)
        flow = flow.rewired(replace(flow.wiring, block=block))
    return flow


def _with_config(place: _Place, steps: Sequence[str], config: Config) -> Block:
    """Return a block with another config at these steps; it is as deep as the flow is nested."""
    first, *rest = steps
    placed = place.block.nodes[first]
    match placed:
        case LoopBlock() | MapBlock():
            body = _with_config(_Place(place.flow, placed.body), rest, config)
            changed: PlacedNode | LoopBlock | MapBlock = replace(placed, body=body)
        case PlacedNode() if rest:
            flow = _flow_of(place, placed)
            assert flow is not None, "these steps lead on"
            block = _with_config(_Place(flow, flow.wiring.block), rest, config)
            changed = replace(placed, type=flow.rewired(replace(flow.wiring, block=block)))
        case PlacedNode():
            changed = replace(placed, config=config, config_is_json=False)
    return replace(place.block, nodes={**place.block.nodes, first: changed})
