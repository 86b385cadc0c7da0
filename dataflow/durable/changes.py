"""Changes: what a fork does otherwise than the run it comes from, by keys (S13.5). Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.wording import choices, nearest
from dataflow.compiler.addresses import address_of, scopes_of
from dataflow.compiler.plan import Call
from dataflow.core.inputs import ports_left
from dataflow.core.wiring import INPUT
from dataflow.durable.rewiring import configs_of
from dataflow.errors import FlowInvalid, ValueMismatch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.compiler.definition import Definition
    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.config import Config
    from dataflow.core.ports import OutPort
    from dataflow.durable.past import Past
    from dataflow.durable.rewiring import PlacedConfig

__all__ = ["CONFIG", "FORK", "MODEL", "Changeable", "Changes", "changed_configs"]

#: Between the address of a node and the field of its config.
CONFIG: Final = ".config."
#: The key that stands for each model that a flow names, and the field of a config that names one.
MODEL: Final = "model"
#: What stands before the problems of a fork.
FORK: Final = "fork of flow"


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes by what they are of: inputs by name, answers by ask, config fields by address."""

    inputs: Mapping[str, object] = field(default_factory=dict)
    answers: Mapping[str, object] = field(default_factory=dict)
    configs: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


class Changeable:
    """What can be changed of a run: `$in.NAME`, its asks, `NODE.config.FIELD` and `model`."""

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
        """List the ports that an answer fills; None if the flow has no such node any more."""
        told = self._asks[ask].ask
        assert told is not None, "it has asked"
        given = {name.removeprefix("$"): True for name in told.told["given"]}
        for scope in scopes_of(self._plan):
            for node in scope.plan.nodes:
                if isinstance(node.action, Call) and scope.address_of(node) == address_of(ask):
                    return ports_left(node.action.type.outputs, given)
        return None

    def parted(self, changes: Mapping[str, object]) -> Changes:
        """Part changes by what they are of; raises FlowInvalid for keys that there are not."""
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

    def _unknown(self, key: str) -> str:
        if key == MODEL:
            return "no context and no config names a model, so there is none to change"
        known = choices(nearest(self.types, key) if key else list(self.types))
        return f"there is nothing to change under {key!r}; {known}"


def changed_configs(
    flow: str, configs: Mapping[str, PlacedConfig], changes: Mapping[str, Mapping[str, object]]
) -> dict[tuple[str, ...], Config]:
    """Make the configs with the changed fields, by the steps to them; raises FlowInvalid."""
    problems: list[str] = []
    made: dict[tuple[str, ...], Config] = {}
    for address, fields in changes.items():
        placed = configs.get(address)
        if placed is None or not fields.keys() <= type(placed.config).model_fields.keys():
            names = ", ".join(f"{address}{CONFIG}{name}" for name in fields)
            problems.append(f"{names} was changed by a fork, and is not in the flow any more")
            continue
        try:
            made[placed.steps] = placed.changed(fields)
        except ValueMismatch as mismatch:
            problems.append(f"{_keys(address, fields)}: {mismatch}")
        except FlowInvalid as invalid:
            problems += [f"{_keys(address, fields)}: {problem}" for problem in invalid.problems]
    if problems:
        raise FlowInvalid(flow, problems, FORK)
    return made


def _keys(address: str, fields: Mapping[str, object]) -> str:
    return ", ".join(f"'{address}{CONFIG}{name}'" for name in fields)
