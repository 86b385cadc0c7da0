"""Files of HiFide: recognised by their content, and translated into native documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import Format, get_mapping, get_mappings, write_edge, write_source
from dataflow_formats.hifide.config import OPTIONS, available
from dataflow_formats.hifide.file import KINDS, START, WAITING, is_of_a_kind, read_flow
from dataflow_formats.hifide.order import closed, in_line, looping
from dataflow_formats.hifide.wires import bridge, pass_contexts_by, settle_sampling, wired
from dataflow_formats.hifide.writer import node_of, read_lazily

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.authoring import FormatOptions, JsonDict, Notes
    from dataflow_formats.hifide.file import HifideFlow, Wire

__all__ = ["FORMAT"]

#: What has been said before the flow begins.
HISTORY: Final = "history"


def recognises(data: Any) -> bool:
    """Tell whether what a file holds is a flow of HiFide."""
    if not isinstance(data, dict) or "connections" in data:
        return False
    nodes, edges = get_mappings(data, "nodes"), get_mappings(data, "edges")
    return (
        any("nodeType" in node or "nodeType" in get_mapping(node, "data") for node in nodes)
        or any("sourceHandle" in edge or "sourceOutput" in edge for edge in edges)
        or any(is_of_a_kind(node) for node in nodes)
    )


def translate(data: Any, options: FormatOptions, notes: Notes) -> JsonDict:
    """Translate a file that has been read into a native document."""
    tools = available(options, notes)
    flow = read_flow(data, notes)
    if notes.problems:
        return {}
    bridge(flow, notes)
    pass_contexts_by(flow)
    settle_sampling(flow)
    _check_entries(flow, notes)
    made = wired(flow, notes)
    read_lazily(flow, made, notes)
    ids = [*flow.nodes, *made.between]
    waiting = [id for id, node in flow.nodes.items() if node.kind == WAITING]
    wires = closed(ids, made.wires, waiting)
    _check_cycles(flow, looping(ids, wires), notes)
    written = {id: node_of(node, wires, tools, notes) for id, node in flow.nodes.items()}
    if notes.problems:
        return {}
    for id, node in flow.nodes.items():
        notes.origin(id, node.path)
    line = in_line(flow, made, wires, notes)
    written |= {**made.between, **line.between}
    wires, inputs = line.drawn(closed([*ids, *line.between], line.wires, waiting))
    for id, given in inputs.items():
        written[id] = {**written[id], "inputs": given}
    begun = any(
        node.kind == START for node in flow.nodes.values()
    )  # with an edge of its own, which comes first
    for index, wire in enumerate(wires, int(begun)):
        notes.origins["edges", index] = wire.path
    return _document(data, flow, written, wires)


def _check_entries(flow: HifideFlow, notes: Notes) -> None:
    entered = {edge.target for edge in flow.edges}
    if flow.nodes and not flow.nodes.keys() - entered:
        notes.problem(("nodes",), "no entry node: an edge leads to every node, so none can start")


def _check_cycles(flow: HifideFlow, groups: Sequence[Sequence[str]], notes: Notes) -> None:
    for group in groups:
        id = next((id for id in group if id in flow.nodes), group[0])
        told = f"Circular dependency detected at node {id}: {' -> '.join([*group, group[0]])}"
        path = flow.nodes[id].path if id in flow.nodes else ()
        notes.problem(path, f"{told}; a loop has to pass a userInput, which waits")


def _document(data: JsonDict, flow: HifideFlow, nodes: JsonDict, wires: Sequence[Wire]) -> JsonDict:
    start = next((id for id, node in flow.nodes.items() if node.kind == START), None)
    inputs = {} if start is None else {HISTORY: {"type": "array", "default": []}}
    edges = [_edge(wire) for wire in wires]
    if start is not None:
        edges.insert(0, write_edge("$in", HISTORY, start, "messages"))
    kept = {key: data[key] for key in ("description", "version") if key in data}
    name = data.get("name")
    return {
        "dataflow": 1,
        **({"name": name} if isinstance(name, str) and name else {}),
        "using": {"errors": "continue"},
        "inputs": inputs,
        "nodes": nodes,
        "edges": edges,
        "outputs": _outputs(flow, wires),
        **({"meta": {"hifide": kept}} if kept else {}),
    }


def _edge(wire: Wire) -> JsonDict:
    going_round = {"feedback": True, "limit": None} if wire.feedback else {}
    each_round = {"each_round": True} if wire.each_round else {}
    return write_edge(
        wire.source, wire.source_port, wire.target, wire.target_port, **going_round, **each_round
    )


def _outputs(flow: HifideFlow, wires: Sequence[Wire]) -> JsonDict:
    """Return the values of the nodes that nothing reads, of those that are in no loop without an end."""
    read = {wire.source for wire in wires}
    endless = {wire.target for wire in wires if wire.feedback or wire.each_round}
    found = {}
    for id, node in flow.nodes.items():
        kind = KINDS.get(node.kind)
        port = "out" if kind is None else kind.outputs.get("data")
        if id not in read and id not in endless and port:
            found[id] = write_source(id, port)
    return found


FORMAT: Final = Format("hifide", recognises, translate, OPTIONS)
