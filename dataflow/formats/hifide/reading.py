"""Reading a file of HiFide: all problems of its nodes and edges are found at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.formats.hifide.kinds import KINDS
from dataflow.formats.hifide.parts import Edge, HifideFlow, Node, Path
from dataflow.formats.hifide.spellings import kind_of_node, port_name, spelled_type
from dataflow.formats.problems import described
from dataflow.formats.shapes import within
from dataflow.wording import choices, nearest

if TYPE_CHECKING:
    from dataflow.formats.foreign import Notes

__all__ = ["read_flow"]

#: The two shapes of edges: that of files, and that of the document.
_OUTPUTS: Final = ("sourceHandle", "sourceOutput")
_INPUTS: Final = ("targetHandle", "targetInput")
_DRAWN: Final = ("label", "position", "expanded")


def read_flow(data: Any, notes: Notes) -> HifideFlow:
    """Read a file that may hold anything; every problem is noted."""
    flow = HifideFlow()
    if not isinstance(data, dict):
        notes.problem((), f"expected a flow of HiFide, found {described(data)}")
        return flow
    nodes, edges = _list(data, "nodes", notes), _list(data, "edges", notes)
    if data.get("nodes") == []:
        notes.problem(("nodes",), "the flow has no nodes")
    known = {id for node in nodes if isinstance(node, dict) and isinstance(id := node.get("id"), str)}
    for index, given in enumerate(nodes):
        _add_node(flow, ("nodes", index), given, notes)
    for index, given in enumerate(edges):
        _add_edge(flow, known, ("edges", index), given, notes)
    return flow


def _list(data: dict[str, Any], key: str, notes: Notes) -> list[Any]:
    found = data.get(key, [] if key == "edges" else None)
    if isinstance(found, list):
        return found
    notes.problem((key,), f"expected a list of {key}, found {described(found)}")
    return []


def _add_node(flow: HifideFlow, path: Path, given: Any, notes: Notes) -> None:
    id = given.get("id") if isinstance(given, dict) else None
    if not isinstance(id, str) or not id:
        notes.problem(path, f"expected a node with an `id`, found {described(given)}")
        return
    if id in flow.nodes:
        notes.problem((*path, "id"), f"there are two nodes {id!r}; each id stands once")
        return
    spelled = spelled_type(given)
    kind = None if spelled is None else kind_of_node(spelled)
    if kind is None:
        told = "has no node type" if spelled is None else f"unknown node type {spelled!r}"
        notes.problem(path, f"node {id!r}: {told}; {choices(nearest(KINDS, spelled or ''))}")
        return
    inner = "config" not in given and "config" in within(given, "data")
    config_path = (*path, "data", "config") if inner else (*path, "config")
    config = within(given, "data")["config"] if inner else given.get("config")
    if not isinstance(config, dict | None):
        notes.problem(config_path, f"node {id!r}: expected a mapping as config, found {described(config)}")
        return
    drawn = {key: given[key] for key in _DRAWN if key in given}
    flow.nodes[id] = Node(id, kind, config or {}, path, config_path, drawn)


def _add_edge(flow: HifideFlow, known: set[str], path: Path, given: Any, notes: Notes) -> None:
    if not isinstance(given, dict):
        notes.problem(path, f"expected an edge, found {described(given)}")
        return
    ends = [given.get("source"), given.get("target")]
    for key, end in zip(("source", "target"), ends, strict=True):
        if not isinstance(end, str):
            notes.problem(path, f"expected the id of a node as {key}, found {described(end)}")
        elif end not in known:
            notes.problem((*path, key), f"there is no node {end!r}; {choices(nearest(known, end))}")
    source, target = (end if isinstance(end, str) and end in flow.nodes else "" for end in ends)
    output, port = _port(given, _OUTPUTS, path, notes), _port(given, _INPUTS, path, notes)
    if not (source and target) or output is None or port is None:
        return
    edge = Edge(source, _named(flow, source, output), target, _named(flow, target, port), path)
    _check_kind(edge, given, notes)
    if not any(_ends(edge) == _ends(other) for other in flow.edges_into(target)):
        flow.edges.append(edge)


def _port(given: dict[str, Any], keys: tuple[str, str], path: Path, notes: Notes) -> str | None:
    found = next((given[key] for key in keys if given.get(key) is not None), "")
    if isinstance(found, str):
        return found
    notes.problem(path, f"expected the name of a port as {keys[0]}, found {described(found)}")
    return None


def _named(flow: HifideFlow, node: str, port: str) -> str:
    """Bring the name of a port to one spelling; those of a node type of a pack are its own."""
    return port_name(port) if flow.nodes[node].kind in KINDS or not port else port


def _ends(edge: Edge) -> tuple[str, str, str, str]:
    return edge.source, edge.output, edge.target, edge.input


def _check_kind(edge: Edge, given: dict[str, Any], notes: Notes) -> None:
    said = within(given, "metadata").get("isContextEdge")
    carries = edge.input == "context"
    if isinstance(said, bool) and said != carries:
        notes.remark(
            edge.target,
            f"the edge from {edge.source!r} has isContextEdge {str(said).lower()}",
            f"its ports decide: it carries {'the context' if carries else 'a value'}",
        )
