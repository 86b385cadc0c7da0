"""`clickweave.end`: where every walk ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dataflow import ExecutionContext, Failure, NodeOutput, Port, Ports, node
from dataflow_formats.clickweave.nodes.errors import WalkFailed
from dataflow_formats.clickweave.nodes.state import public_variables

__all__ = ["end", "unused"]

WALK: Final = "walk"


@node(
    name="end",
    ports=Ports(
        {
            WALK: Port(ExecutionContext, default=None),
            "failures": Port(list[Failure], default=None),
            "verdicts": Port(list[dict[str, Any]], default=None),
        },
        {"variables": dict[str, Any]},
    ),
)
async def end(inputs: Mapping[str, Any]) -> NodeOutput:
    """End a walk: give the variables that its nodes have set.

    A failure that was held back until the checks had been judged is raised: `verdicts` are waited for.
    """
    if failures := inputs["failures"]:
        raise WalkFailed(failures[0])
    return NodeOutput({"variables": public_variables(inputs[WALK])})


async def unused() -> None:
    """Stand for a node that no walk comes to, or that is disabled; it is never run."""
