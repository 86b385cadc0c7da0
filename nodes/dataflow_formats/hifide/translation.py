"""`FORMAT`: recognise HiFide files, translate them to native documents, and report differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import Format, foreign, get_mapping, get_mappings
from dataflow_formats.hifide.config import OPTIONS, available
from dataflow_formats.hifide.diagnostics import CIRCULAR
from dataflow_formats.hifide.edges import bridge_portals, bypass_tools, inherit_sampling, wire
from dataflow_formats.hifide.file import START, WAITING, is_of_a_kind, read_flow
from dataflow_formats.hifide.order import close_loops, find_cycles, serialize_chats
from dataflow_formats.hifide.writer import document, node_of, read_lazily

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.authoring import FormatOptions, JsonDict, Notes
    from dataflow_formats.hifide.file import HifideFlow

__all__ = ["FORMAT"]


def recognises(data: Any) -> bool:
    """Return whether the content of a file is a flow of HiFide."""
    if not isinstance(data, dict) or "connections" in data:
        return False
    nodes, edges = get_mappings(data, "nodes"), get_mappings(data, "edges")
    return (
        any("nodeType" in node or "nodeType" in get_mapping(node, "data") for node in nodes)
        or any("sourceHandle" in edge or "sourceOutput" in edge for edge in edges)
        or any(is_of_a_kind(node) for node in nodes)
    )


def translate(data: Any, options: FormatOptions, notes: Notes) -> JsonDict:
    """Translate the content of a file into a native document; problems and remarks are noted."""
    tools = available(options, notes)
    flow = read_flow(data, notes)
    if notes.problems:
        return {}
    bridge_portals(flow, notes)
    bypass_tools(flow)
    inherit_sampling(flow)
    _check_entries(flow, notes)
    made = wire(flow, notes)
    read_lazily(flow, made, notes)
    ids = [*flow.nodes, *made.between]
    waiting = [id for id, node in flow.nodes.items() if node.kind == WAITING]
    edges = close_loops(ids, made.edges, waiting)
    _check_cycles(flow, find_cycles(ids, edges), notes)
    written = {id: node_of(node, edges, tools, notes) for id, node in flow.nodes.items()}
    if notes.problems:
        return {}
    for id, node in flow.nodes.items():
        notes.origin(id, node.path)
    serialized = serialize_chats(flow, made, edges, notes)
    written |= {**made.between, **serialized.between}
    edges, inputs = serialized.drawn(close_loops([*ids, *serialized.between], serialized.edges, waiting))
    for id, given in inputs.items():
        written[id] = {**written[id], "inputs": given}
    has_start = any(node.kind == START for node in flow.nodes.values())  # the document begins with its edge
    for index, one in enumerate(edges, int(has_start)):
        notes.edge_origin(index, one.path)
    return document(data, flow, written, edges)


FORMAT: Final = Format("hifide", recognises, translate, OPTIONS)


def _check_entries(flow: HifideFlow, notes: Notes) -> None:
    entered = {edge.target for edge in flow.edges}
    if flow.nodes and not flow.nodes.keys() - entered:
        notes.problem(("nodes",), foreign.FOREIGN_START_MISSING(expected="a node that no edge leads to"))


def _check_cycles(flow: HifideFlow, groups: Sequence[Sequence[str]], notes: Notes) -> None:
    for group in groups:
        id = next((id for id in group if id in flow.nodes), group[0])
        path = flow.nodes[id].path if id in flow.nodes else ()
        notes.problem(path, CIRCULAR(id=id, cycle=" -> ".join([*group, group[0]])))
