"""Which nodes of a flow are told where it, or one in it, was made of a file of another system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.cli.board import outline
from dataflow.compiler.plan import FlowOf

if TYPE_CHECKING:
    from dataflow.compiler.plan import FlowPlan

__all__ = ["nodes_of_file"]


def nodes_of_file(plan: FlowPlan) -> frozenset[str] | None:
    """Return the keys of the nodes that are told; None for a flow of our own, of which all are.

    Of a flow made of such a file these are its nodes, a `start` and a `result` that the translation has added
    among them, and the flow nodes in those, as steps that run beside others. All else in them is what they
    are made of.
    """
    if not any(map(_is_made, _plans_in(plan))):
        return None
    found: set[str] = set()
    flows = [("", plan, False)]  # each with whether it stands in one that was made of a file
    for around, flow, is_within in flows:  # grows while it is walked
        hides = is_within or _is_made(flow)
        for key, node in outline(flow, around):
            inner = node.action.plan if isinstance(node.action, FlowOf) else None
            is_written = inner is not None and inner.wiring.places is not None  # not that of a node type
            if is_written or not is_within:
                found.add(key)
            if inner is not None and (is_written or not hides):
                flows.append((key, inner, hides))
    return frozenset(found)


def _plans_in(plan: FlowPlan) -> list[FlowPlan]:
    """List a flow and the flows in it, each once, however many nodes share it."""
    found, seen = [plan], {id(plan)}
    for flow in found:  # grows while it is walked
        for _, node in outline(flow):
            if isinstance(node.action, FlowOf) and id(node.action.plan) not in seen:
                seen.add(id(node.action.plan))
                found.append(node.action.plan)
    return found


def _is_made(plan: FlowPlan) -> bool:
    """Tell whether a flow was made of a file of another system."""
    if not plan.wiring.meta:
        return False
    from dataflow.formats.foreign import MADE_OF  # most flows are made of no such file

    return MADE_OF in plan.wiring.meta
