"""The report of a workflow: where it means something else here, and what of it is unsound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow_formats.agentron.conditions import KINDS
from dataflow_formats.agentron.writer import DEFAULT_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.authoring import JsonDict, Notes
    from dataflow_formats.agentron.parts import EdgePart, Graph
    from dataflow_formats.agentron.writer import Laid

__all__ = ["remark"]

#: The mode of what starts only when it is told to.
ONCE: Final = "one_time"


def remark(data: JsonDict, graph: Graph, branches: Sequence[Graph], laid: Laid, notes: Notes) -> None:
    """Note all remarks on the graph of a workflow that runs."""
    _on_workflow(data, graph, branches, notes)
    _on_loops(graph, laid, notes)
    for node in graph.nodes:
        if node.id in laid.unreached:
            notes.remark(node.id, "never runs, as no edge leads to it", "it is left out as well")
            continue
        _on_exits(node.id, [edge for edge in laid.edges if edge.source == node.id], notes)
        incoming = [edge for edge in laid.edges if edge.target == node.id]
        if len({edge.source for edge in incoming} - laid.unreached) > 1:
            original = f"is always told the output of {incoming[0].source!r}, which its first edge comes from"
            notes.remark(node.id, original, "it is told the output of the node that ran before it")


def _on_workflow(data: Any, graph: Graph, branches: Sequence[Graph], notes: Notes) -> None:
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


def _on_loops(graph: Graph, laid: Laid, notes: Notes) -> None:
    for heads in dict.fromkeys(laid.heads.values()):
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


def _on_exits(node: str, exits: Sequence[EdgePart], notes: Notes) -> None:
    for edge in exits:
        if edge.condition is not None and edge.condition.type not in KINDS:
            told = f"the unknown condition {edge.condition.type!r} of the edge to {edge.target!r} holds"
            notes.remark(node, told, "it holds as well")
    always = next((number for number, edge in enumerate(exits) if _always_holds(edge)), len(exits))
    for edge in exits[always + 1 :]:
        told = f"the edge to {edge.target!r} is never followed, since one before it always is"
        notes.remark(node, told, "it is not followed either")
    if exits and always == len(exits):
        told = f"where no condition holds, the first edge, to {exits[0].target!r}, is followed all the same"
        notes.remark(node, told, "so it is, and the run warns of it")


def _always_holds(edge: EdgePart) -> bool:
    return edge.condition is None or edge.condition.type not in KINDS
