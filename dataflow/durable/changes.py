"""The changes that a fork applies: new inputs, answers and config fields."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from dataflow.compiler.addresses import address_of, scopes_of
from dataflow.compiler.definition import Definition
from dataflow.compiler.plan import Call, FlowOf
from dataflow.core.inputs import ports_left
from dataflow.core.nodetype import NodeType, config_problems
from dataflow.core.wiring import INPUT, LoopBlock, MapBlock, PlacedNode
from dataflow.diagnostics.changes import CHANGE_NOT_FOUND, CHANGE_UNKNOWN, MODEL_NOT_NAMED
from dataflow.errors import FlowInvalid, ValueMismatch, problem_of
from dataflow.types.validation import check_json, check_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.compiler.plan import FlowPlan, PlanNode
    from dataflow.core.config import Config
    from dataflow.core.ports import OutPort
    from dataflow.core.wiring import Block, Nested
    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.durable.journal_view import Past

__all__ = [
    "CONFIG",
    "FORK",
    "Changeable",
    "Changes",
    "changed_configs",
    "configs_of",
    "rewired",
]

#: Separates the address of a node from the name of its config field in a key.
CONFIG: Final = ".config."
#: The key for every model that a flow names, and the name of the config field that names a model.
MODEL: Final = "model"
#: The prefix of the diagnostics of a fork.
FORK: Final = "fork of flow"


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes by kind: inputs by name, answers by ask id, config fields by node address."""

    inputs: Mapping[str, object] = field(default_factory=dict)
    answers: Mapping[str, object] = field(default_factory=dict)
    configs: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


class Changeable:
    """The keys that a fork of a run can change: `$in.NAME`, its asks, `NODE.config.FIELD` and `model`."""

    def __init__(self, flow: Definition, plan: FlowPlan, past: Past) -> None:
        self._plan = plan
        self._past = past
        self._asks = {path: firing for path, firing in past.firings.items() if firing.ask is not None}
        self.configs = configs_of(flow, plan)
        self.types = dict(self._keys())

    def _keys(self) -> list[tuple[str, object]]:
        """List the keys, each with the type of its values."""
        keys: list[tuple[str, object]] = [
            (f"{INPUT}.{name}", one.type) for name, one in self._plan.wiring.inputs.items()
        ]
        for path in self._asks:
            left = self.left_by(path)
            keys += [] if left is None else [(path, left[0].type if len(left) == 1 else Any)]
        for address, placed in self.configs.items():
            fields = type(placed.config).model_fields
            keys += [(f"{address}{CONFIG}{name}", placed.type_of(name)) for name in fields]
        return [*keys, (MODEL, str)] if self._with_model() else keys

    def _with_model(self) -> list[str]:
        """List the addresses of the nodes whose config names a model."""
        return [address for address, one in self.configs.items() if getattr(one.config, MODEL, None)]

    def left_by(self, ask: str) -> Sequence[OutPort] | None:
        """List the ports that an answer fills; None if the flow no longer has the node of the ask."""
        opened = self._asks[ask].ask
        assert opened is not None, "the firing has asked"
        given = {name.removeprefix("$"): True for name in opened.told["given"]}
        for scope in scopes_of(self._plan):
            for node in scope.plan.nodes:
                if isinstance(node.action, Call) and scope.address_of(node) == address_of(ask):
                    return ports_left(node.action.type.outputs, given)
        return None

    def parted(self, changes: Mapping[str, object]) -> Changes:
        """Split changes by kind; raises FlowInvalid for unknown keys."""
        problems = [self._unknown(key) for key in changes if key not in self.types]
        if problems:
            raise FlowInvalid(self._plan.name, problems, FORK)
        inputs: dict[str, object] = {}
        answers: dict[str, object] = {}
        configs: dict[str, dict[str, object]] = {}
        for key, value in changes.items():
            address, dot, name = key.rpartition(CONFIG)
            if key.startswith(f"{INPUT}."):
                inputs[key.removeprefix(f"{INPUT}.")] = value
            elif dot:
                configs.setdefault(address, {})[name] = value
            elif key == MODEL and key not in self._asks:
                for one in self._with_model():
                    configs.setdefault(one, {}).setdefault(MODEL, value)
            else:
                answers[key] = value
        return Changes(inputs, answers, configs)

    def _unknown(self, key: str) -> Diagnostic:
        if key == MODEL:
            return MODEL_NOT_NAMED(key)
        return CHANGE_UNKNOWN(key=key, available=self.types, near=key or None)


def changed_configs(
    flow: str, configs: Mapping[str, PlacedConfig], changes: Mapping[str, Mapping[str, object]]
) -> dict[tuple[str, ...], Config]:
    """Build the configs with the changed fields, by the steps to their nodes; raises FlowInvalid."""
    problems: list[Diagnostic] = []
    made: dict[tuple[str, ...], Config] = {}
    for address, fields in changes.items():
        placed = configs.get(address)
        if placed is None or not fields.keys() <= type(placed.config).model_fields.keys():
            problems.append(CHANGE_NOT_FOUND(_keys(address, fields)))
            continue
        try:
            made[placed.steps] = placed.changed(fields)
        except ValueMismatch as mismatch:
            problems.append(problem_of(mismatch).within(_keys(address, fields)))
        except FlowInvalid as invalid:
            problems += [problem.within(_keys(address, fields)) for problem in invalid.problems]
    if problems:
        raise FlowInvalid(flow, problems, FORK)
    return made


def _keys(address: str, fields: Mapping[str, object]) -> str:
    return ", ".join(f"{address}{CONFIG}{name}" for name in fields)


class PlacedConfig(NamedTuple):
    """The config of a node, and the ids that lead to it through blocks and subflows."""

    config: Config
    steps: tuple[str, ...]

    def type_of(self, name: str) -> object:
        """Return the type of a field."""
        return type(self.config).model_fields[name].annotation

    def changed(self, fields: Mapping[str, object]) -> Config:
        """Return the config with these fields changed, each given as a value of its type or as JSON.

        Raises ValueMismatch for a field, and FlowInvalid if the config rejects the fields in combination.
        """
        model = type(self.config)
        kept = {name: getattr(self.config, name) for name in self.config.model_fields_set}
        given = {name: _read(value, self.type_of(name)) for name, value in fields.items()}
        try:
            return model.model_validate({**kept, **given})
        except ValidationError as error:
            raise FlowInvalid(
                self.steps[-1], [one.problem for one in config_problems(error, model)]
            ) from error


def _read(value: object, expected: object) -> object:
    try:
        return check_value(value, expected)
    except ValueMismatch as as_value:
        try:
            return check_json(value, expected)
        except ValueMismatch as as_json:  # report the mismatch that is located deeper in the value
            raise max(as_value, as_json, key=lambda one: len(one.place)) from None


class _Place(NamedTuple):
    """The block that the nodes of a scope were placed in, and the ids that lead to it from the flow."""

    flow: Definition
    block: Block
    steps: tuple[str, ...] = ()

    def type_of(self, placed: PlacedNode) -> NodeType:
        if isinstance(placed.type, NodeType):
            return placed.type
        return self.flow.find_type(placed.type) if isinstance(placed.type, str) else placed.type.node_type

    def inside(self, node: PlanNode) -> _Place | None:
        """Return where the nodes inside a node were placed; None if its config has built them."""
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
                return self  # a loop or map without a separate block


def _flow_of(place: _Place, placed: PlacedNode) -> Definition | None:
    given = placed.type
    flow: Nested | None = place.type_of(placed).flow if isinstance(given, str | NodeType) else given
    return flow if isinstance(flow, Definition) else None


def configs_of(flow: Definition, plan: FlowPlan) -> dict[str, PlacedConfig]:
    """Find the configs of a flow and of its subflows, by the addresses of their nodes."""
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
    """Return a block with another config at these steps; the recursion is as deep as the subflows."""
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
