"""Reading a workflow: its nodes and edges; what is wrong with any of them is noted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import PartReader, unique_ids
from dataflow_formats.agentflow.parts import (
    APPROVAL,
    IF,
    KINDS,
    OUTPUT,
    START,
    SUBAGENT,
    EdgePart,
    NodePart,
    Workflow,
)
from dataflow_formats.agentflow.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from dataflow.authoring import JsonDict, Notes

__all__ = ["read_workflow"]

#: What types of nodes have been called.
LEGACY: Final = {"input": APPROVAL}
#: What of a node is kept for those who look at it.
SHOWN: Final = ("x", "y")
#: The old name of the first branch.
TRUE: Final = "true"
FIRST: Final = "condition-0"


def read_workflow(data: JsonDict, notes: Notes) -> Workflow:
    """Read the nodes and edges of a file."""
    file = PartReader(notes, data)
    parts = file.entries("nodes", "node", needed=True)
    unique_ids(parts)
    read = [_node(part) for part in parts]
    _check_starts(read, notes)
    nodes = {node.id: node for node in read}
    edges = [_edge(part, nodes.keys() - {""}) for part in file.entries("connections", needed=True)]
    below = tuple(edge for edge in edges if edge.handle == SUBAGENT)
    leading = [replace(edge, port=_port(edge, nodes)) for edge in edges if edge.handle != SUBAGENT]
    dead = tuple(edge for edge in leading if not edge.port)
    return Workflow(nodes, tuple(edge for edge in leading if edge.port), below, dead)


def _node(part: PartReader) -> NodePart:
    part.missing("id")
    id, kind = part.text("id"), part.word("type", KINDS, renamed=LEGACY)
    settings = read_settings(kind, part.mapping("data"))
    shown = {name: part.part[name] for name in SHOWN if part.part.get(name) is not None}
    return NodePart(id, kind, part.path, settings, _exits(kind, settings), shown)


def _check_starts(nodes: list[NodePart], notes: Notes) -> None:
    """Note what is no single start."""
    starts = [node for node in nodes if node.kind == START]
    if not starts:
        notes.problem(("nodes",), "there is no start; expected exactly one node of type start")
    for node in starts[1:]:
        told = f"node {node.id!r} is a second start beside {starts[0].id!r}; expected exactly one"
        notes.problem(node.path, told)


def _edge(part: PartReader, nodes: Collection[str]) -> EdgePart:
    source, target = part.endpoint(("source",), "from", nodes), part.endpoint(("target",), "to", nodes)
    return EdgePart(source, target, part.path, part.text("sourceHandle"), part.text("targetHandle"))


def _exits(kind: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
    if kind == IF:
        return (*(f"condition-{number}" for number in range(len(settings["conditions"]))), "false")
    return ("approve", "reject") if kind == APPROVAL else (OUTPUT,)


def _port(edge: EdgePart, nodes: Mapping[str, NodePart]) -> str:
    """Return the port that an edge leaves from, an empty text for a handle that is none."""
    node = nodes.get(edge.source)
    if node is None or not node.branches:
        return OUTPUT
    handle = FIRST if edge.handle == TRUE and node.kind == IF else edge.handle
    return handle if handle in node.exits else ""
