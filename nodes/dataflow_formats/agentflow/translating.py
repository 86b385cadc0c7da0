"""Files of AgentFlow: recognised by their content, and translated into native documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import Format, choices, describe_value, get_mappings
from dataflow_formats.agentflow.order import planned
from dataflow_formats.agentflow.reading import read_workflow
from dataflow_formats.agentflow.remarking import remark
from dataflow_formats.agentflow.subagents import check_subagents, tool_name
from dataflow_formats.agentflow.words import META, AgentFlowWords
from dataflow_formats.agentflow.writer import document

if TYPE_CHECKING:
    from dataflow.authoring import FormatOptions, JsonDict, Notes
    from dataflow_formats.agentflow.order import Plan
    from dataflow_formats.agentflow.parts import Workflow

__all__ = ["FORMAT"]

#: What a node does at which several arrive: it runs once for each of them, or once on all.
JOINS: Final = ("each", "once")
#: What of a workflow becomes the flow itself.
USED: Final = {"nodes", "connections", "name"}


def recognises(data: Any) -> bool:
    """Tell whether what a file holds is a workflow of AgentFlow."""
    return bool(get_mappings(data, "nodes")) and "connections" in data


def translate(data: Any, options: FormatOptions, notes: Notes) -> JsonDict:
    """Translate a file that has been read into a native document."""
    if not isinstance(data, dict):
        found = describe_value(data)
        notes.problem((), f"is no workflow: expected a mapping with `nodes` and `connections`, found {found}")
        return {}
    joins = options.get("joins", JOINS[0])
    if joins not in JOINS:
        notes.problem((), f"option joins: there is no {joins!r}; {choices(JOINS)}")
    workflow = read_workflow(data, notes)
    check_subagents(workflow, notes)
    if notes.problems:
        return {}
    is_each = joins == "each"
    plan = planned(workflow, each=is_each)
    if is_each:
        _refuse_tangled(workflow, plan, notes)
    remark(workflow, plan, notes, each=is_each)
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


def _refuse_tangled(workflow: Workflow, plan: Plan, notes: Notes) -> None:
    for node, reason in plan.tangled.items():
        told = f"node {node!r} cannot run once for each arrival: {reason}; load the file with joins=once"
        notes.problem(workflow.nodes[node].path, told)


def _meta(data: JsonDict, workflow: Workflow) -> JsonDict:
    """Keep what is no part of the flow: other fields of the file, and whose tools are agents."""
    kept = {key: value for key, value in data.items() if key not in USED}
    below = [workflow.nodes[edge.target] for edge in workflow.below]
    if below:
        kept["subagents"] = {
            tool_name(node): {"id": node.id, "name": node.settings["name"]} for node in below
        }
    return kept


FORMAT: Final = Format("agentflow", recognises, translate, frozenset({"joins"}), AgentFlowWords)
