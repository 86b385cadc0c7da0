"""Reading a file of HiFide: all problems of its nodes and edges are found at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import PartReader, choices, describe_value, get_mapping, unique_ids
from dataflow_formats.hifide.kinds import KINDS
from dataflow_formats.hifide.parts import Edge, HifideFlow, Node
from dataflow_formats.hifide.spellings import kind_of_node, port_name, spelled_type

if TYPE_CHECKING:
    from dataflow.authoring import JsonDict, Notes

__all__ = ["read_flow"]

#: The two shapes of edges: that of files, and that of the document.
_OUTPUTS: Final = ("sourceHandle", "sourceOutput")
_INPUTS: Final = ("targetHandle", "targetInput")
_DRAWN: Final = ("label", "position", "expanded")


def read_flow(data: Any, notes: Notes) -> HifideFlow:
    """Read a file that may hold anything; every problem is noted."""
    flow = HifideFlow()
    if not isinstance(data, dict):
        notes.problem((), f"expected a flow of HiFide, found {describe_value(data)}")
        return flow
    file = PartReader(notes, data)
    nodes, edges = file.entries("nodes", "node", needed=True), file.entries("edges")
    if data.get("nodes") == []:
        notes.problem(("nodes",), "the flow has no nodes")
    known = unique_ids(nodes)
    for node in nodes:
        _add_node(flow, node)
    for edge in edges:
        _add_edge(flow, known, edge)
    return flow


def _add_node(flow: HifideFlow, part: PartReader) -> None:
    id = "" if part.missing("id") else part.text("id")
    if not id or id in flow.nodes:
        return
    given = part.part
    spelled = spelled_type(given)
    kind = None if spelled is None else kind_of_node(spelled)
    if kind is None:
        told = "has no node type" if spelled is None else f"unknown node type {spelled!r}"
        part.problem(f"{told}; {choices(KINDS, near=spelled or '')}")
        return
    inner = "config" not in given and "config" in get_mapping(given, "data")
    config = (part.mapping("data") if inner else part).mapping("config")
    drawn: JsonDict = {key: given[key] for key in _DRAWN if key in given}
    flow.nodes[id] = Node(id, kind, config.part, part.path, config.path, drawn)


def _add_edge(flow: HifideFlow, known: set[str], part: PartReader) -> None:
    source, target = part.endpoint(("source",), "from", known), part.endpoint(("target",), "to", known)
    output, port = _port(part, _OUTPUTS), _port(part, _INPUTS)
    if source not in flow.nodes or target not in flow.nodes:
        return
    edge = Edge(source, _named(flow, source, output), target, _named(flow, target, port), part.path)
    _check_kind(edge, part.part, part.notes)
    if not any(_ends(edge) == _ends(other) for other in flow.edges_into(target)):
        flow.edges.append(edge)


def _port(part: PartReader, keys: tuple[str, str]) -> str:
    """Return the port that an edge names, in either shape of edges."""
    return part.text(next((key for key in keys if part.part.get(key) is not None), keys[0]))


def _named(flow: HifideFlow, node: str, port: str) -> str:
    """Bring the name of a port to one spelling; those of a node type of a pack are its own."""
    return port_name(port) if flow.nodes[node].kind in KINDS or not port else port


def _ends(edge: Edge) -> tuple[str, str, str, str]:
    return edge.source, edge.output, edge.target, edge.input


def _check_kind(edge: Edge, given: dict[str, Any], notes: Notes) -> None:
    said = get_mapping(given, "metadata").get("isContextEdge")
    carries = edge.input == "context"
    if isinstance(said, bool) and said != carries:
        notes.remark(
            edge.target,
            f"the edge from {edge.source!r} has isContextEdge {str(said).lower()}",
            f"its ports decide: it carries {'the context' if carries else 'a value'}",
        )
