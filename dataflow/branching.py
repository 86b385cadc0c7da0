"""The built-in node types `control.if` and `control.switch`, which pass their value on to one exit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.config import Config
from dataflow.current import this_firing
from dataflow.errors import NodeFailed
from dataflow.functions import FunctionReference
from dataflow.nodetype import NodeType
from dataflow.ports import InPort, OutPort, PortKind, Ports
from dataflow.signature import Parameters, Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["BRANCHES", "IF", "SWITCH", "Choose", "Decide"]

VALUE: Final = "value"


class Decide(Config):
    """Config of `control.if`: a function of the value that gives a bool."""

    predicate: FunctionReference


class Choose(Config):
    """Config of `control.switch`: a function of the value that names a case; `default` may be one."""

    pick: FunctionReference
    cases: tuple[str, ...]


async def _decide(config: Decide, value: Any) -> Mapping[str, Any]:
    answer = config.predicate(value)
    if not isinstance(answer, bool):
        raise NodeFailed(this_firing().path, f"got {answer!r} from its predicate; expected a bool (S16.3)")
    return {"yes" if answer else "no": value}


async def _choose(config: Choose, value: Any) -> Mapping[str, Any]:
    case = config.pick(value)
    if case is None:
        return {}
    if case in config.cases:
        return {case: value}
    if "default" in config.cases:
        return {"default": value}
    raise NodeFailed(
        this_firing().path, f"picked {case!r}; cases: {', '.join(config.cases)}, or None for none of them"
    )


def _exits(names: tuple[str, ...]) -> dict[str, OutPort]:
    """Make the exits of a branch: conditional ports that pass the value on, with its type."""
    return {name: OutPort(name, Any, PortKind.DATA, conditional=True, same_as=VALUE) for name in names}


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


IF: Final = _branching("control.if", _decide, Decide, ("yes", "no"))
SWITCH: Final = _branching(
    "control.switch", _choose, Choose, ports_of=lambda config: Ports(outputs=_exits(config.cases))
)
#: The ids of the node types of which one exit is taken.
BRANCHES: Final = frozenset({IF.id, SWITCH.id})
