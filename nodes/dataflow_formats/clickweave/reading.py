"""Reading a file of Clickweave: each node and each edge by itself, so that all problems are found at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import PartReader, describe_value, unique_ids
from dataflow_formats.clickweave.files import NODE_TYPES, Edge, FileNode

if TYPE_CHECKING:
    from dataflow.authoring import Notes

__all__ = ["Placed", "Workflow", "is_older", "read_workflow"]

OLDER: Final = (
    "is a workflow of an older form, whose nodes have a `kind` and `params`; expected nodes with a "
    "`node_type`, which the present one writes when it saves the workflow again"
)


@dataclass(frozen=True, slots=True)
class Placed:
    """An edge, and which one of the file it is."""

    index: int
    edge: Edge


@dataclass(slots=True)
class Workflow:
    """What a file says.

    name, id: of the workflow
    nodes: by their ids, in the order of the file
    places: which node of the file each is
    leaving: the edges that leave each node, in the order of the file
    known: the ids of all nodes, also of those that could not be read
    """

    name: str
    id: str
    nodes: dict[str, FileNode] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    leaving: dict[str, list[Placed]] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)


def is_older(data: Any) -> bool:
    """Tell whether a file is of the form that Clickweave had before."""
    nodes = data.get("nodes") if isinstance(data, dict) else None
    return isinstance(nodes, list) and any(
        isinstance(node, dict) and "node_type" not in node and {"kind", "params"} <= node.keys()
        for node in nodes
    )


def read_workflow(data: Any, notes: Notes) -> Workflow | None:
    """Read a file; every problem is noted, and None returned if nothing can be made of it."""
    if not isinstance(data, dict):
        notes.problem((), f"expected a workflow of Clickweave, found {describe_value(data)}")
        return None
    if is_older(data):
        notes.problem((), OLDER)
        return None
    file = PartReader(notes, data)
    workflow = Workflow(_needed(file, "name"), _needed(file, "id"))
    nodes = file.entries("nodes", "node", needed=True, named_by=("name",))
    edges = file.entries("edges", needed=True)
    if data.get("nodes") == []:
        notes.problem(("nodes",), "the workflow is empty; expected one node or more")
    workflow.known = unique_ids(nodes)
    for node in nodes:
        _add_node(workflow, node)
    for edge in edges:
        _add_edge(workflow, edge)
    return workflow


def _needed(file: PartReader, key: str) -> str:
    return "" if file.part.get(key) != "" and file.missing(key) else file.text(key)


def _add_node(workflow: Workflow, part: PartReader) -> None:
    if not _has_type(part) or (node := part.checked(FileNode)) is None or node.id in workflow.nodes:
        return
    workflow.nodes[node.id] = node
    workflow.places[node.id] = _index(part)
    workflow.leaving[node.id] = []


def _index(part: PartReader) -> int:
    return int(part.path[-1])


def _has_type(part: PartReader) -> bool:
    """Check the type of a node first: with another one nothing else can be said of it."""
    kind = part.part.get("node_type")
    if "node_type" not in part.part:
        part.missing("node_type")
    elif not isinstance(kind, dict):
        part.expected("a mapping with a `type`", kind, "node_type")
    else:
        return part.mapping("node_type").word("type", NODE_TYPES) in NODE_TYPES
    return False


def _add_edge(workflow: Workflow, part: PartReader) -> None:
    edge = part.checked(Edge)
    if edge is None:
        return
    for key, leads in (("from", "from"), ("to", "to")):
        part.endpoint((key,), leads, workflow.known)
    if edge.source in workflow.leaving:
        workflow.leaving[edge.source].append(Placed(_index(part), edge))
