"""The built-in node types `control.if` and `control.switch`, which pass their value on to one exit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Self

from pydantic import Discriminator, Tag, model_serializer, model_validator

from dataflow.base.wording import choices
from dataflow.core.config import Config, FunctionReference
from dataflow.core.firing import this_firing
from dataflow.core.nodetype import IF_ID, SWITCH_ID, VALUE, NodeType, checked_answer
from dataflow.core.ports import InPort, OutPort, PortKind, Ports
from dataflow.core.signature import Parameters, Shape
from dataflow.core.wiring import node_of_path
from dataflow.errors import NodeFailed
from dataflow.types.validation import described

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["IF", "SWITCH", "Choose", "Decide"]


class Branching(Config):
    """What the configs of the branches share: what is not given is not written either."""

    @model_serializer(mode="wrap")
    def _given(self, write: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in write(self).items() if value is not None}


class Decide(Branching):
    """Config of `control.if`: a function of the value that gives a bool, or an expression over `value`."""

    predicate: FunctionReference = None
    condition: str | None = None

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.predicate is None) == (self.condition is None):
            raise ValueError("a branch has one of `predicate`, a function, and `condition`, an expression")
        return self

    def decided_by(self, condition: Callable[[Any], bool]) -> Decide:
        """Return the config with its condition compiled."""
        return self.model_copy(update={"predicate": condition})


Cases = Annotated[
    Annotated[tuple[str, ...], Tag("<names>")] | Annotated[dict[str, str], Tag("<conditions>")],
    Discriminator(lambda value: "<conditions>" if isinstance(value, dict) else "<names>"),
]


class Choose(Branching):
    """Config of `control.switch`: a function of the value that names a case; `default` may be one.

    Or the cases with their conditions, expressions over `value`: the first that holds, in order.
    """

    pick: FunctionReference = None
    cases: Cases

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.pick is None) != isinstance(self.cases, dict):
            raise ValueError("a switch has `pick`, a function, and a list of `cases`, or conditions by case")
        return self

    def decided_by(self, conditions: Mapping[str, Callable[[Any], bool]]) -> Choose:
        """Return the config with its conditions compiled."""

        def pick(value: Any) -> str | None:
            return next((case for case, holds in conditions.items() if holds(value)), None)

        return self.model_copy(update={"pick": pick})


async def _decide(config: Decide, value: Any) -> Mapping[str, Any]:
    """Pass the value on to `yes` or to `no`, as the predicate or the condition says of it.

    Fails with NodeFailed if the answer is no bool, with ExpressionError if the condition cannot be
    evaluated; nothing is guessed from a text or a number (S16.3).
    """
    answer = checked_answer(config.predicate(value), node_of_path(this_firing().path), "predicate")
    return {"yes" if answer else "no": value}


async def _choose(config: Choose, value: Any) -> Mapping[str, Any]:
    """Pass the value on to the exit of one case: the one picked, or the first whose condition holds.

    Without any it goes to `default` if that is a case, else nowhere. Fails with NodeFailed for a picked
    name that is no case.
    """
    case = config.pick(value)
    if case is None:
        return {}
    if case in config.cases:
        return {case: value}
    if "default" in config.cases:
        return {"default": value}
    known = f"{choices(config.cases)}, or None for none of them"
    raise NodeFailed(node_of_path(this_firing().path), f"picked {described(case)}, which is no case; {known}")


def _exits(names: Iterable[str]) -> dict[str, OutPort]:
    """Make the exits of a branch: conditional ports that pass the value on, with its type."""
    return {
        name: OutPort(name, Any, PortKind.DATA, conditional=True, same_as=VALUE, exit=name) for name in names
    }


def _branching(
    id: str,
    call: Callable[..., Any],
    config: type[Config],
    exits: tuple[str, ...] = (),
    ports_of: Callable[[Any], Ports] | None = None,
) -> NodeType:
    return NodeType(
        id=id,
        call=call,
        parameters=Parameters(
            ports=(InPort(VALUE, Any, PortKind.DATA),),
            positional=("config", VALUE),
            config=config,
            config_name="config",
        ),
        inputs={VALUE: InPort(VALUE, Any, PortKind.DATA)},
        outputs=_exits(exits),
        shape=Shape.PORTS,
        ports_of=ports_of,
        name=id.partition(".")[2],
    )


IF: Final = _branching(IF_ID, _decide, Decide, ("yes", "no"))
SWITCH: Final = _branching(
    SWITCH_ID, _choose, Choose, ports_of=lambda config: Ports(outputs=_exits(config.cases))
)
