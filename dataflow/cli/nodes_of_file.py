"""Which nodes of a flow are those of the file of another system that it was made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.cli.board import outline
from dataflow.plan import FlowOf

if TYPE_CHECKING:
    from dataflow.plan import FlowPlan, PlanNode

__all__ = ["nodes_of_file"]


def nodes_of_file(plan: FlowPlan) -> frozenset[str] | None:
    """Return the keys of the nodes that stand in the file of another system; None for a flow of our own.

    A node of such a file is a node of the flow, or a flow node in one, as a step that runs beside others. All
    else in them is what they are made of.
    """
    if not plan.wiring.meta:
        return None
    from dataflow.formats.foreign import MADE_OF  # most flows are made of no such file

    if MADE_OF not in plan.wiring.meta:
        return None
    found = {key for key, _ in outline(plan)}
    flows = [(key, inner) for key, node in outline(plan) if (inner := _written(node)) is not None]
    for around, flow in flows:  # grows while it is walked
        within = [
            (key, inner) for key, node in outline(flow, around) if (inner := _written(node)) is not None
        ]
        found.update(key for key, _ in within)
        flows += within
    return frozenset(found)


def _written(node: PlanNode) -> FlowPlan | None:
    """Return the flow of a node that is written in the document; that of a node type is not."""
    action = node.action
    return action.plan if isinstance(action, FlowOf) and action.plan.wiring.places is not None else None
