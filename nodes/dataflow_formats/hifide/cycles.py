"""The loops of a flow: the wire that closes one leads back to a node that waits for somebody."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from dataflow_formats.hifide.parts import Wire

__all__ = ["closed", "looping"]


def looping(nodes: Iterable[str], wires: Sequence[Wire]) -> list[list[str]]:
    """Return the nodes that can reach one another, but for feedback, in declared order."""
    import networkx as nx  # only for what loops

    order = {id: place for place, id in enumerate(nodes)}
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(order)
    graph.add_edges_from((one.source, one.target) for one in wires if not one.feedback)
    loops = set(nx.nodes_with_selfloops(graph))
    found = [sorted(group, key=order.__getitem__) for group in nx.strongly_connected_components(graph)]
    return sorted(
        (group for group in found if len(group) > 1 or group[0] in loops), key=lambda group: order[group[0]]
    )


def closed(nodes: Collection[str], wires: Sequence[Wire], waiting: Collection[str]) -> tuple[Wire, ...]:
    """Make feedback of the wires that lead back to a waiting node; what reads its loop is in each round."""
    found = tuple(wires)
    whole = looping(nodes, found)
    while heads := [head for group in looping(nodes, found) if (head := _head(group, found, waiting))]:
        inside = {head[0]: set(head[1]) for head in heads}
        found = tuple(
            replace(one, feedback=True)
            if one.source in inside.get(one.target, ()) and not one.feedback
            else one
            for one in found
        )
    body = {id: number for number, group in enumerate(whole) for id in group}
    return tuple(
        replace(one, each_round=True)
        if one.source in body and body.get(one.target) != body[one.source]
        else one
        for one in found
    )


def _head(
    group: Sequence[str], wires: Sequence[Wire], waiting: Collection[str]
) -> tuple[str, Sequence[str]] | None:
    """Return the waiting node of a loop that comes first, best one that is also reached from outside."""
    candidates = [id for id in group if id in waiting]
    entered = {one.target for one in wires if one.source not in group}
    first = next((id for id in candidates if id in entered), next(iter(candidates), None))
    return None if first is None else (first, group)
