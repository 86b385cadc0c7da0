"""Files of Agentron Studio: recognised by their content, and translated into native documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import Format, choices, describe_value, get_mappings
from dataflow_formats.agentron.agents import WRITE, read_agents
from dataflow_formats.agentron.reading import AGENT, read_branches, read_graph
from dataflow_formats.agentron.remarking import remark
from dataflow_formats.agentron.words import META, AgentronWords
from dataflow_formats.agentron.writer import document, laid_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.authoring import FormatOptions, JsonDict, Notes
    from dataflow_formats.agentron.agents import Agent, Agents
    from dataflow_formats.agentron.parts import Graph

__all__ = ["FORMAT"]

#: What of a workflow becomes the flow itself, or is kept in another form.
USED: Final = {"nodes", "edges", "branches", "agents", "turnInstruction", "maxRounds"}


def recognises(data: Any) -> bool:
    """Tell whether what a file holds is a workflow of Agentron Studio."""
    if not isinstance(data, dict) or "connections" in data:
        return False
    marks = {"executionMode", "maxRounds", "turnInstruction", "branches", "executionOrder"}
    return bool(marks & data.keys()) or any(
        node.get("type") == "agent" for node in get_mappings(data, "nodes")
    )


def translate(data: Any, options: FormatOptions, notes: Notes) -> JsonDict:
    """Translate a file that has been read into a native document."""
    if not isinstance(data, dict):
        notes.problem((), f"is no workflow: expected a mapping with `nodes`, found {describe_value(data)}")
        return {}
    main = read_graph(data, notes)
    branches = read_branches(data, main, notes)
    known = read_agents(data, options, notes)
    graph = _picked(main, branches, options, notes)
    agents = _agents_of(graph, known, notes)
    if notes.problems:
        return {}
    laid = laid_out(graph)
    remark(data, graph, branches, laid, notes)
    for node in graph.nodes:
        notes.origin(node.id, node.path)
    name = main.name and {"name": main.name}
    return {
        "dataflow": 1,
        **(name or {}),
        **document(graph, agents, laid),
        "meta": {META: _meta(data, graph, branches)},
    }


def _picked(main: Graph, branches: Sequence[Graph], options: FormatOptions, notes: Notes) -> Graph:
    """Return the branch that is asked for, else the main graph."""
    if "branch" not in options:
        return main
    wanted = options["branch"]
    found = next((branch for branch in branches if branch.id == wanted), None)
    if found is None:
        names = choices([branch.id for branch in branches]) if branches else "the file has no branches"
        notes.problem(("branches",), f"there is no branch {wanted!r}; {names}")
    return found or main


def _agents_of(graph: Graph, known: Agents, notes: Notes) -> dict[str, Agent]:
    """Return the agents of the nodes; those that nobody knows are one problem."""
    nodes = [node for node in graph.nodes if node.kind == AGENT and (node.agent_id or node.agent_name)]
    found = {node.id: agent for node in nodes if (agent := known.of(node)) is not None}
    missing = [node for node in nodes if node.id not in found]
    if missing and known.is_whole:
        told = dict.fromkeys(f"{node.agent_name or node.agent_id} of node {node.id!r}" for node in missing)
        problem = f"agents without a model: {', '.join(told)}; {WRITE}"
        notes.problem(missing[0].path, problem)
    return found


def _meta(data: JsonDict, graph: Graph, branches: Sequence[Graph]) -> JsonDict:
    """Keep what is no part of the flow: who it is, and when it and its branches run by themselves."""
    kept = {key: value for key, value in data.items() if key not in USED}
    if graph.path:
        kept["branch"] = graph.id
    if branches:
        kept["branches"] = [_schedule(branch) for branch in branches]
    return kept


def _schedule(branch: Graph) -> JsonDict:
    shown = {"id": branch.id, "name": branch.name, "executionMode": branch.mode, "schedule": branch.schedule}
    return {key: value for key, value in shown.items() if value}


FORMAT: Final = Format(
    "agentron", recognises, translate, frozenset({"agents", "branch", "model"}), AgentronWords
)
