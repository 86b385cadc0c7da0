"""The node types of flows: of one that is wired, and of a function that wires one for each config (S1.1)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dataflow.core.nodetype import NodeType, check_names, never_called
from dataflow.core.signature import (
    OUT,
    Parameters,
    Shape,
    hints_of,
    passing_on,
    qualified_id,
    read_parameters,
    read_result,
)
from dataflow.errors import FlowInvalid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dataflow.core.policy import Policy
    from dataflow.core.ports import InPort, OutPort
    from dataflow.core.wiring import Nested

__all__ = ["configurable_type", "flow_type"]


def flow_type(
    flow: Nested,
    inputs: Mapping[str, InPort],
    outputs: Mapping[str, OutPort],
    policy: Policy,
    documented: object = None,
) -> NodeType:
    """Make the node type of a flow: its inputs and outputs are the ports (S1.1)."""
    parameters = Parameters(tuple(inputs.values()), positional=tuple(inputs))
    made = NodeType(
        f"flow {flow.name}",
        never_called,
        parameters,
        inputs,
        outputs,
        Shape.PORTS,
        policy=policy,
        name=flow.name,
        flow=flow,
        documented=documented,
    )
    check_names(made)
    return made


def configurable_type(
    function: Callable[..., Any], flow_of: Callable[[Any], Nested], name: str, policy: Policy
) -> NodeType:
    """Make the node type of a function that wires a flow for a config; raises FlowInvalid.

    `flow_of` wires it. The outputs are those that the signature tells of.
    """
    hints, problems = hints_of(function)
    parameters, more = read_parameters(partial(function, None), hints, False)
    returns, yet_more = read_result(function, hints.get("return", Any))
    if problems := [*problems, *more, *yet_more]:
        raise FlowInvalid(name, [f"{name}: {problem}" for problem in problems], "node type")
    ports = [
        port for port in passing_on(returns, parameters).ports if len(returns.ports) == 1 or port.name != OUT
    ]
    made = NodeType(
        qualified_id(function),
        never_called,
        parameters,
        {port.name: port for port in parameters.ports},
        {port.name: port for port in ports},
        Shape.PORTS,
        policy=policy,
        name=name,
        flow_of=flow_of,
        documented=function,
    )
    check_names(made)
    return made
