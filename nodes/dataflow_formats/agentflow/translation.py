"""`FORMAT`: recognise AgentFlow files, translate them to native documents, and report differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import Format, describe_value, foreign, get_mappings
from dataflow_formats.agentflow.diagnostics import EACH_IMPOSSIBLE
from dataflow_formats.agentflow.file import APPROVAL, read_workflow
from dataflow_formats.agentflow.order import plan_workflow
from dataflow_formats.agentflow.subagents import check_subagents, tool_name
from dataflow_formats.agentflow.words import META, AgentFlowWords
from dataflow_formats.agentflow.writer import LIMIT, document

if TYPE_CHECKING:
    from dataflow.authoring import FormatOptions, JsonDict, Notes
    from dataflow_formats.agentflow.file import Workflow
    from dataflow_formats.agentflow.order import Plan

__all__ = ["FORMAT"]

#: Whether a node with several arrivals runs once for each of them, or once on all.
JOINS: Final = ("each", "once")
#: The keys of a file that become the flow; all others are kept in its meta.
USED: Final = {"nodes", "connections", "name"}


def recognises(data: Any) -> bool:
    """Return whether the content of a file is a workflow of AgentFlow."""
    return bool(get_mappings(data, "nodes")) and "connections" in data


def translate(data: Any, options: FormatOptions, notes: Notes) -> JsonDict:
    """Translate the content of a file into a native document; problems and remarks are noted."""
    if not isinstance(data, dict):
        expected = "a mapping with `nodes` and `connections`"
        found = describe_value(data)
        notes.problem((), foreign.FOREIGN_FILE_INVALID(system="AgentFlow", expected=expected, found=found))
        return {}
    joins = options.get("joins", JOINS[0])
    if joins not in JOINS:
        notes.problem((), foreign.FOREIGN_OPTION_INVALID("option joins", found=repr(joins), available=JOINS))
    workflow = read_workflow(data, notes)
    check_subagents(workflow, notes)
    if notes.problems:
        return {}
    is_each = joins == "each"
    plan = plan_workflow(workflow, each=is_each)
    if is_each:
        _refuse_tangled(workflow, plan, notes)
    _remark(workflow, plan, notes, each=is_each)
    for node in workflow.nodes.values():
        notes.origin(node.id, node.path)
    name = data.get("name")
    named = {"name": name} if isinstance(name, str) and name else {}
    return {
        "dataflow": 1,
        **named,
        **document(workflow, plan, each=is_each),
        "meta": {META: _meta(data, workflow)},
    }


FORMAT: Final = Format("agentflow", recognises, translate, frozenset({"joins"}), AgentFlowWords)


def _refuse_tangled(workflow: Workflow, plan: Plan, notes: Notes) -> None:
    for node, reason in plan.tangled.items():
        notes.problem(workflow.nodes[node].path, EACH_IMPOSSIBLE(f"node {node!r}", reason=reason))


def _meta(data: JsonDict, workflow: Workflow) -> JsonDict:
    """Return the other fields of the file, and the agents that are tools by the names of the tools."""
    kept = {key: value for key, value in data.items() if key not in USED}
    below = [workflow.nodes[edge.target] for edge in workflow.below]
    if below:
        kept["subagents"] = {
            tool_name(node): {"id": node.id, "name": node.settings["name"]} for node in below
        }
    return kept


def _remark(workflow: Workflow, plan: Plan, notes: Notes, *, each: bool) -> None:
    """Note where the flow behaves differently from the original, or as unexpectedly."""
    for edge in workflow.dead:
        text = (
            f"the connection to {edge.target!r} is never followed, as {edge.handle!r} is no exit of the node"
        )
        notes.remark(edge.source, text, "it is not followed either")
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
            _remark_on_arrivals(node, plan, notes, each=each)
    _remark_on_approvals(workflow, plan, notes)


def _remark_on_arrivals(node: str, plan: Plan, notes: Notes, *, each: bool) -> None:
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


def _remark_on_approvals(workflow: Workflow, plan: Plan, notes: Notes) -> None:
    leading: dict[tuple[str, str], list[str]] = {}
    for edge in plan.edges:
        leading.setdefault((edge.source, edge.port), []).append(edge.target)
    for targets in leading.values():
        asking = [target for target in targets if workflow.nodes[target].kind == APPROVAL]
        if asking and len(targets) > 1:
            original = "what stands beside it runs before the answer or after it, or is lost, by their order"
            notes.remark(asking[0], original, "all of it runs without waiting for the answer")
