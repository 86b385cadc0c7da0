"""Reading a file of Clickweave: each node and each edge by itself, so that all problems are found at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from dataflow.formats.clickweave.files import NODE_TYPES, Edge, FileNode
from dataflow.formats.problems import described, problems_of
from dataflow.wording import choices, nearest

if TYPE_CHECKING:
    from dataflow.formats.foreign import Notes

__all__ = ["Placed", "Workflow", "is_older", "read_workflow"]

P = TypeVar("P", bound=BaseModel)

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
        notes.problem((), f"expected a workflow of Clickweave, found {described(data)}")
        return None
    if is_older(data):
        notes.problem((), OLDER)
        return None
    workflow = Workflow(_text(data, "name", notes), _text(data, "id", notes))
    nodes, edges = _list(data, "nodes", notes), _list(data, "edges", notes)
    if data.get("nodes") == []:
        notes.problem(("nodes",), "the workflow is empty; expected one node or more")
    workflow.known = {
        id for node in nodes if isinstance(node, dict) and isinstance(id := node.get("id"), str)
    }
    for index, given in enumerate(nodes):
        _add_node(workflow, index, given, notes)
    for index, given in enumerate(edges):
        _add_edge(workflow, index, given, notes)
    return workflow


def _text(data: dict[str, Any], key: str, notes: Notes) -> str:
    found = data.get(key)
    if isinstance(found, str):
        return found
    notes.problem((key,), f"expected text, found {described(found)}" if key in data else "is missing")
    return ""


def _list(data: dict[str, Any], key: str, notes: Notes) -> list[Any]:
    found = data.get(key)
    if isinstance(found, list):
        return found
    notes.problem((key,), f"expected a list, found {described(found)}" if key in data else "is missing")
    return []


def _add_node(workflow: Workflow, index: int, given: Any, notes: Notes) -> None:
    if not _has_type(index, given, notes):
        return
    node = _part(FileNode, given, ("nodes", index), _called(given), notes)
    if node is None:
        return
    if node.id in workflow.nodes:
        notes.problem(("nodes", index, "id"), f"there are two nodes {node.id!r}; each id stands once")
        return
    workflow.nodes[node.id] = node
    workflow.places[node.id] = index
    workflow.leaving[node.id] = []


def _has_type(index: int, given: Any, notes: Notes) -> bool:
    """Check the type of a node first: with another one nothing else can be said of it."""
    path = ("nodes", index)
    if not isinstance(given, dict):
        notes.problem(path, f"expected a node, found {described(given)}")
        return False
    kind = given.get("node_type")
    if not isinstance(kind, dict):
        told = (
            f"expected a mapping with a `type`, found {described(kind)}"
            if "node_type" in given
            else "is missing"
        )
        notes.problem((*path, "node_type"), f"{told}{_called(given)}")
        return False
    found = kind.get("type")
    if found not in NODE_TYPES:
        told = f"there is no node type {described(found)}" if "type" in kind else "is missing"
        offered = choices(nearest(NODE_TYPES, found) if isinstance(found, str) else NODE_TYPES)
        notes.problem((*path, "node_type", "type"), f"{told}{_called(given)}; {offered}")
        return False
    return True


def _called(node: dict[str, Any]) -> str:
    name = node.get("name")
    return f" (node {name!r})" if isinstance(name, str) and name else ""


def _add_edge(workflow: Workflow, index: int, given: Any, notes: Notes) -> None:
    path = ("edges", index)
    if not isinstance(given, dict):
        notes.problem(path, f"expected an edge, found {described(given)}")
        return
    edge = _part(Edge, given, path, "", notes)
    if edge is None:
        return
    for end, key in ((edge.source, "from"), (edge.target, "to")):
        if end not in workflow.known:
            notes.problem((*path, key), f"leads {key} a node {end!r}, which is not there")
    if edge.source in workflow.leaving:
        workflow.leaving[edge.source].append(Placed(index, edge))


def _part(
    model: type[P], given: dict[str, Any], path: tuple[str | int, ...], called: str, notes: Notes
) -> P | None:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        for problem in problems_of(error, given):
            notes.problem((*path, *problem.path), f"{problem.text}{called}")
        return None
