"""The report of a workflow: where it means something else here, and what of it is unsound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow_formats.agentflow.parts import APPROVAL
from dataflow_formats.agentflow.writer import LIMIT

if TYPE_CHECKING:
    from dataflow.authoring import Notes
    from dataflow_formats.agentflow.order import Plan
    from dataflow_formats.agentflow.parts import Workflow

__all__ = ["remark"]


def remark(workflow: Workflow, plan: Plan, notes: Notes, *, each: bool) -> None:
    """Note all remarks on a workflow that runs."""
    for edge in workflow.dead:
        told = (
            f"the connection to {edge.target!r} is never followed, as {edge.handle!r} is no exit of the node"
        )
        notes.remark(edge.source, told, "it is not followed either")
    for loop in plan.loops:
        first = next(id for id in workflow.nodes if id in loop.heads)
        original = "the loop that begins here has no limit"
        notes.remark(first, original, f"the run fails after {LIMIT * len(loop.heads)} rounds")
        if plan.gates.get(first) in plan.at_once:
            others = ", ".join(repr(id) for id in workflow.nodes if id in loop.heads - {first})
            original = f"what comes to {others} goes round this loop on its own"
            notes.remark(first, original, "all that is in the loop begins each round together")
    for node in workflow.nodes:
        if node in plan.unreached:
            notes.remark(node, "never runs, as nothing leads to it", "it is left out as well")
        if node in plan.meeting or node in plan.again:
            _on_arrivals(node, plan, notes, each=each)
    _on_approvals(workflow, plan, notes)


def _on_arrivals(node: str, plan: Plan, notes: Notes, *, each: bool) -> None:
    numbers = [
        *(plan.into(node) if node in plan.meeting else ()),
        *(plan.back_to(node) if node in plan.again else ()),
    ]
    sources = ", ".join(repr(plan.edges[number].source) for number in numbers)
    original = f"runs once for each arrival, from {sources}, and keeps what the last of them gave"
    here = (
        "it does too, and its output is the list of what they gave; joins=once has it run once on all"
        if each
        else "it runs once, on all that arrive"
    )
    notes.remark(node, original, here)


def _on_approvals(workflow: Workflow, plan: Plan, notes: Notes) -> None:
    leading: dict[tuple[str, str], list[str]] = {}
    for edge in plan.edges:
        leading.setdefault((edge.source, edge.port), []).append(edge.target)
    for targets in leading.values():
        asking = [target for target in targets if workflow.nodes[target].kind == APPROVAL]
        if asking and len(targets) > 1:
            original = "what stands beside it runs before the answer or after it, or is lost, by their order"
            notes.remark(asking[0], original, "all of it runs without waiting for the answer")
