"""Chats that share a conversation, which nothing else orders, speak one after the other as declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataflow.formats.hifide.kinds import CHAT
from dataflow.names import write_reference
from dataflow.wiring import Reference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from networkx import DiGraph

    from dataflow.formats.foreign import JsonDict, Notes
    from dataflow.formats.hifide.parts import HifideFlow, Wire

__all__ = ["in_line"]

CONTEXT: Final = "context"


def in_line(
    flow: HifideFlow, wires: Sequence[Wire], notes: Notes
) -> tuple[tuple[Wire, ...], dict[str, JsonDict]]:
    """Return the wires that stay, and the inputs of the chats that go on from what others have said.

    A chat behind one that is skipped reads the conversation as it was. The report names those that share one.
    """
    places = {id: place for place, id in enumerate(flow.nodes)}
    readers: dict[tuple[str, str], list[Wire]] = {}
    for wire in wires:
        if wire.target_port == CONTEXT and not wire.feedback and _is_chat(flow, wire.target):
            readers.setdefault((wire.source, wire.source_port), []).append(wire)
    shared = {key: found for key, found in readers.items() if len(found) > 1}
    if not shared:
        return tuple(wires), {}
    looping = {id for one in wires if one.feedback or one.each_round for id in (one.source, one.target)}
    graph = _graph(wires)
    inputs: dict[str, JsonDict] = {}
    left: list[Wire] = []
    for source, found in shared.items():
        found.sort(key=lambda wire: places[wire.target])
        names = [wire.target for wire in found]
        for before, after in zip(names, found[1:], strict=False):
            end = _end(before, readers)
            if {end, after.target} & looping or _has_path(graph, after.target, end):
                continue
            given = [write_reference(Reference(end, CONTEXT)), write_reference(Reference(*source))]
            inputs[after.target] = {CONTEXT: {"fallback": given}}
            left.append(after)
            graph.add_edge(end, after.target)
        told = " and ".join(map(repr, names))
        here = "they speak one after the other, in this order"
        if not all(name in inputs for name in names[1:]):
            here = "each goes on from the same history"
        notes.remark(source[0], f"{told} write to one history at once", here)
    return tuple(wire for wire in wires if wire not in left), inputs


def _is_chat(flow: HifideFlow, id: str) -> bool:
    return id in flow.nodes and flow.nodes[id].kind == CHAT


def _graph(wires: Sequence[Wire]) -> DiGraph[str]:
    import networkx as nx  # only for what is shared

    graph: DiGraph[str] = nx.DiGraph()
    graph.add_edges_from((one.source, one.target) for one in wires if not one.feedback)
    return graph


def _has_path(graph: DiGraph[str], source: str, target: str) -> bool:
    import networkx as nx

    return bool(nx.has_path(graph, source, target))


def _end(id: str, readers: dict[tuple[str, str], list[Wire]]) -> str:
    """Return the last chat of a line in which each has one behind it."""
    while len(behind := readers.get((id, CONTEXT), [])) == 1:
        id = behind[0].target
    return id
