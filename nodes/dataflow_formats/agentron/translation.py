"""`FORMAT`: recognise Agentron Studio files, translate them to native documents, and report differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import Format, describe_value, foreign, get_mappings
from dataflow_formats.agentron.agents import read_agents
from dataflow_formats.agentron.diagnostics import MODELS_MISSING
from dataflow_formats.agentron.file import AGENT, KINDS, read_branches, read_graph
from dataflow_formats.agentron.words import META, AgentronWords
from dataflow_formats.agentron.writer import DEFAULT_ROUNDS, document, lay_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.authoring import FormatOptions, JsonDict, Notes
    from dataflow_formats.agentron.agents import Agent, Agents
    from dataflow_formats.agentron.file import EdgePart, Graph
    from dataflow_formats.agentron.writer import Layout

__all__ = ["FORMAT"]

#: The keys of a file that become the flow, or are kept in another form.
USED: Final = {"nodes", "edges", "branches", "agents", "turnInstruction", "maxRounds"}
#: The mode of a graph that starts on request only.
ONCE: Final = "one_time"


def recognises(data: Any) -> bool:
    """Return whether the content of a file is a workflow of Agentron Studio."""
    if not isinstance(data, dict) or "connections" in data:
        return False
    marks = {"executionMode", "maxRounds", "turnInstruction", "branches", "executionOrder"}
    return bool(marks & data.keys()) or any(
        node.get("type") == "agent" for node in get_mappings(data, "nodes")
    )


def translate(data: Any, options: FormatOptions, notes: Notes) -> JsonDict:
    """Translate the content of a file into a native document; problems and remarks are noted."""
    if not isinstance(data, dict):
        found = describe_value(data)
        problem = foreign.FOREIGN_FILE_INVALID(
            system="Agentron Studio", expected="a mapping with `nodes`", found=found
        )
        notes.problem((), problem)
        return {}
    main = read_graph(data, notes)
    branches = read_branches(data, main, notes)
    known = read_agents(data, options, notes)
    graph = _select_graph(main, branches, options, notes)
    agents = _agents_of(graph, known, notes)
    if notes.problems:
        return {}
    layout = lay_out(graph)
    _remark(data, graph, branches, layout, notes)
    for node in graph.nodes:
        notes.origin(node.id, node.path)
    return {
        "dataflow": 1,
        **({"name": main.name} if main.name else {}),
        **document(graph, agents, layout),
        "meta": {META: _meta(data, graph, branches)},
    }


FORMAT: Final = Format(
    "agentron", recognises, translate, frozenset({"agents", "branch", "model"}), AgentronWords
)


def _select_graph(main: Graph, branches: Sequence[Graph], options: FormatOptions, notes: Notes) -> Graph:
    """Return the branch that the option names, else the main graph."""
    if "branch" not in options:
        return main
    wanted = options["branch"]
    found = next((branch for branch in branches if branch.id == wanted), None)
    if found is None:
        ids = [branch.id for branch in branches]
        unknown = foreign.FOREIGN_CHOICE_UNKNOWN(key="branch", value=wanted, available=ids, near=wanted)
        notes.problem(("branches",), unknown)
    return found or main


def _agents_of(graph: Graph, known: Agents, notes: Notes) -> dict[str, Agent]:
    """Return the agents by the ids of the nodes; all that are missing are one problem."""
    nodes = [node for node in graph.nodes if node.kind == AGENT and (node.agent_id or node.agent_name)]
    found = {node.id: agent for node in nodes if (agent := known.of(node)) is not None}
    missing = [node for node in nodes if node.id not in found]
    if missing and known.is_whole:
        names = dict.fromkeys(f"{node.agent_name or node.agent_id} of node {node.id!r}" for node in missing)
        notes.problem(missing[0].path, MODELS_MISSING(agents=", ".join(names)))
    return found


def _meta(data: JsonDict, graph: Graph, branches: Sequence[Graph]) -> JsonDict:
    """Return the other fields of the file, and the schedules of the branches."""
    kept = {key: value for key, value in data.items() if key not in USED}
    if graph.path:
        kept["branch"] = graph.id
    if branches:
        kept["branches"] = [_schedule(branch) for branch in branches]
    return kept


def _schedule(branch: Graph) -> JsonDict:
    shown = {"id": branch.id, "name": branch.name, "executionMode": branch.mode, "schedule": branch.schedule}
    return {key: value for key, value in shown.items() if value}


def _remark(data: JsonDict, graph: Graph, branches: Sequence[Graph], layout: Layout, notes: Notes) -> None:
    """Note where the flow behaves differently from the original, or as unexpectedly."""
    _remark_on_workflow(data, graph, branches, notes)
    _remark_on_loops(graph, layout, notes)
    for node in graph.nodes:
        if node.id in layout.unreached:
            notes.remark(node.id, "never runs, as no edge leads to it", "it is left out as well")
            continue
        _remark_on_exits(node.id, [edge for edge in layout.edges if edge.source == node.id], notes)
        incoming = [edge for edge in layout.edges if edge.target == node.id]
        if len({edge.source for edge in incoming} - layout.unreached) > 1:
            original = f"is always told the output of {incoming[0].source!r}, which its first edge comes from"
            notes.remark(node.id, original, "it is told the output of the node that ran before it")


def _remark_on_workflow(data: Any, graph: Graph, branches: Sequence[Graph], notes: Notes) -> None:
    ids = ", ".join(branch.id for branch in branches)
    if branches and not graph.path and not graph.nodes:
        notes.remark("", "the workflow itself has no nodes", f"only a branch that is named runs: {ids}")
    elif branches and not graph.path:
        here = "each runs where the option `branch` names it, and no other is part of this flow"
        notes.remark("", f"has the branches {ids}", here)
    if graph.mode != ONCE and (graph.path or not branches):
        when = f"{graph.mode}, {graph.schedule}" if graph.schedule else graph.mode
        notes.remark("", f"starts by itself ({when})", "it runs when it is told to")
    if branches and not graph.path and graph.mode != ONCE:
        notes.remark(
            "",
            f"the workflow's own mode {graph.mode!r} does not count, since it has branches",
            "it does not count either; only the branches have schedules",
        )
    if data.get("executionOrder") is not None:
        notes.remark("", "`executionOrder` is ignored", "it is ignored as well; the edges count")


def _remark_on_loops(graph: Graph, layout: Layout, notes: Notes) -> None:
    for heads in dict.fromkeys(layout.heads.values()):
        [*_, first] = [node.id for node in reversed(graph.nodes) if node.id in heads]
        is_counted = graph.nodes[0].id in heads
        if graph.max_rounds is None:
            original = "the loop that begins here has no limit"
            notes.remark(first, original, f"it ends after {DEFAULT_ROUNDS} rounds; `maxRounds` sets another")
        elif not is_counted:
            original = "the loop that begins here never ends by itself: rounds count at the first node alone"
            notes.remark(first, original, f"it ends after {graph.max_rounds} rounds")
        if len(heads) > 1:
            others = ", ".join(sorted(heads - {first}))
            here = f"arrivals at {others} count as well, so the limit is {len(heads)} times as high"
            notes.remark(first, "rounds of this loop begin at one node", here)


def _remark_on_exits(node: str, exits: Sequence[EdgePart], notes: Notes) -> None:
    for edge in exits:
        if edge.condition is not None and edge.condition.type not in KINDS:
            original = f"the unknown condition {edge.condition.type!r} of the edge to {edge.target!r} holds"
            notes.remark(node, original, "it holds as well")
    always = next((number for number, edge in enumerate(exits) if _always_holds(edge)), len(exits))
    for edge in exits[always + 1 :]:
        original = f"the edge to {edge.target!r} is never followed, since one before it always is"
        notes.remark(node, original, "it is not followed either")
    if exits and always == len(exits):
        original = (
            f"where no condition holds, the first edge, to {exits[0].target!r}, is followed all the same"
        )
        notes.remark(node, original, "so it is, and the run warns of it")


def _always_holds(edge: EdgePart) -> bool:
    return edge.condition is None or edge.condition.type not in KINDS
