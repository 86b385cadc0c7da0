"""Reading a workflow: its nodes and edges; what is wrong with any of them is noted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dataflow.formats.agentflow.parts import (
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
from dataflow.formats.agentflow.settings import Reading
from dataflow.formats.problems import described
from dataflow.wording import choices

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dataflow.formats.foreign import JsonDict, Notes
    from dataflow.formats.tree import Path

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
    reading = _Workflows(notes)
    read = [reading.node(path, part) for path, part in reading.entries(data, "nodes")]
    reading.check_nodes(read)
    nodes = {node.id: node for node in read}
    edges = [reading.edge(path, part, nodes) for path, part in reading.entries(data, "connections")]
    below = tuple(edge for edge in edges if edge.handle == SUBAGENT)
    leading = [replace(edge, port=_port(edge, nodes)) for edge in edges if edge.handle != SUBAGENT]
    dead = tuple(edge for edge in leading if not edge.port)
    return Workflow(nodes, tuple(edge for edge in leading if edge.port), below, dead)


@dataclass(frozen=True, slots=True)
class _Workflows:
    """Reads the parts of one workflow."""

    notes: Notes

    def entries(self, data: JsonDict, key: str) -> Iterator[tuple[Path, JsonDict]]:
        """Go through the mappings in the list under a key, each with its place."""
        found = data.get(key)
        if not isinstance(found, list):
            self.notes.problem((key,), f"expected a list, found {described(found)}")
            return
        for number, entry in enumerate(found):
            if isinstance(entry, dict):
                yield (key, number), entry
            else:
                self.notes.problem((key, number), f"expected a mapping, found {described(entry)}")

    def node(self, path: Path, part: JsonDict) -> NodePart:
        reading = Reading(self.notes, path, "a node")
        id, kind = reading.text(part, "id"), reading.text(part, "type")
        kind = LEGACY.get(kind, kind)
        if part.get("id") in (None, ""):
            self.notes.problem(path, "the node has no `id`")
        if kind not in KINDS:
            told = f"has the unknown type {kind!r}" if kind else "has no `type`"
            self.notes.problem(path, f"node {id!r} {told}; {choices(KINDS)}")
        data = part.get("data")
        if data is not None and not isinstance(data, dict):
            self.notes.problem((*path, "data"), f"node {id!r}: expected a mapping, found {described(data)}")
        settings = Reading(self.notes, (*path, "data"), f"node {id!r}").settings(
            kind, data if isinstance(data, dict) else {}
        )
        shown = {name: part[name] for name in SHOWN if part.get(name) is not None}
        return NodePart(id, kind, path, settings, _exits(kind, settings), shown)

    def check_nodes(self, nodes: list[NodePart]) -> None:
        """Note nodes that have one id, and what is no single start."""
        seen: set[str] = set()
        for node in nodes:
            if node.id and node.id in seen:
                self.notes.problem(node.path, f"node {node.id!r} stands here for the second time")
            seen.add(node.id)
        starts = [node for node in nodes if node.kind == START]
        if not starts:
            self.notes.problem(("nodes",), "there is no start; expected exactly one node of type start")
        for node in starts[1:]:
            told = f"node {node.id!r} is a second start beside {starts[0].id!r}; expected exactly one"
            self.notes.problem(node.path, told)

    def edge(self, path: Path, part: JsonDict, nodes: Mapping[str, NodePart]) -> EdgePart:
        reading = Reading(self.notes, path, "the connection")
        ends = []
        for key, leads in (("source", "from"), ("target", "to")):
            end = reading.text(part, key)
            if part.get(key) in (None, ""):
                self.notes.problem(path, f"the connection has no `{key}`")
            elif end and end not in nodes:
                told = f"the connection leads {leads} {end!r}, which is no node"
                self.notes.problem(path, f"{told}; {choices([id for id in nodes if id])}")
            ends.append(end)
        handles = (reading.text(part, key) for key in ("sourceHandle", "targetHandle"))
        return EdgePart(ends[0], ends[1], path, *handles)


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
