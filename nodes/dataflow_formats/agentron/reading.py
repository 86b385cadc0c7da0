"""Reading a workflow: its graphs with their parts; what is wrong with any of them is noted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dataflow.authoring import PartReader, unique_ids
from dataflow_formats.agentron.conditions import Condition
from dataflow_formats.agentron.parts import EdgePart, Graph, NodePart
from dataflow_formats.agentron.schedules import MODES, fault_in

if TYPE_CHECKING:
    from collections.abc import Collection

    from dataflow.authoring import JsonDict, Notes

__all__ = ["AGENT", "WAIT", "read_branches", "read_graph"]

AGENT: Final = "agent"
WAIT: Final = "wait_for_user"
NODE_KINDS: Final = (AGENT, WAIT)

#: What the keys of an edge have been called.
SOURCE: Final = ("source", "from", "sourceId")
TARGET: Final = ("target", "to", "targetId")
#: How a node names its agent.
NAMING: Final = ("agentId", "agentName")
#: What of a node is kept for those who look at it.
SHOWN: Final = ("name", "position")


def read_graph(data: JsonDict, notes: Notes) -> Graph:
    """Read the main graph of a workflow."""
    return _graph(PartReader(notes, data), Graph(()))


def read_branches(data: JsonDict, main: Graph, notes: Notes) -> list[Graph]:
    """Read the branches, which have mode and turn instruction of the workflow unless they have their own."""
    inherited = Graph((), turn_instruction=main.turn_instruction, mode=main.mode)
    parts = PartReader(notes, data).entries("branches", "branch")
    unique_ids(parts)
    for part in parts:
        part.missing("id")
    return [_graph(replace(part, of=""), replace(inherited, path=part.path)) for part in parts]


def _graph(part: PartReader, inherited: Graph) -> Graph:
    nodes, edges = part.entries("nodes", "node"), part.entries("edges", "edge")
    known = unique_ids(nodes)
    unique_ids(edges)
    rounds = part.whole("maxRounds")
    mode = part.word("executionMode", MODES, inherited.mode)
    schedule = part.text("schedule") or None
    fault = fault_in(mode, schedule, of_branch=bool(part.path)) if mode in MODES else None
    if fault is not None:
        part.problem(fault, *(("schedule",) if schedule else ()))
    return replace(
        inherited,
        id=part.text("id"),
        name=part.text("name"),
        nodes=tuple(map(_node, nodes)),
        edges=tuple(_edge(edge, known) for edge in edges),
        max_rounds=rounds if rounds is not None and rounds > 0 else None,
        turn_instruction=part.text("turnInstruction") or inherited.turn_instruction,
        mode=mode,
        schedule=schedule,
    )


def _node(part: PartReader) -> NodePart:
    part.missing("id")
    id, kind = part.text("id"), part.word("type", NODE_KINDS)
    key = "parameters" if part.part.get("parameters") is not None else "config"
    given = part.mapping(key)
    is_mapping = isinstance(part.part.get(key), dict | None)
    if kind == AGENT and is_mapping and not any(map(given.part.get, NAMING)):
        part.problem(f"names no agent; write `agentId` or `agentName` in `{key}`")
    agent_id, agent_name = map(given.text, NAMING)
    others = {name: value for name, value in given.part.items() if name not in NAMING}
    shown = {name: part.part[name] for name in SHOWN if part.part.get(name) is not None}
    return NodePart(id, kind, part.path, agent_id, agent_name, others, shown)


def _edge(part: PartReader, nodes: Collection[str]) -> EdgePart:
    source, target = part.endpoint(SOURCE, "from", nodes), part.endpoint(TARGET, "to", nodes)
    condition = None
    if part.part.get("condition") is not None:
        given = part.mapping("condition", "a mapping with `type` and `value`")
        condition = Condition(type=given.text("type"), value=given.text("value"))
    return EdgePart(part.text("id"), source, target, part.path, condition)
