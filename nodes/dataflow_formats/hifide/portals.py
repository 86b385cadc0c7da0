"""Portals: each edge into one is joined to each edge out of those of its name, before anything runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dataflow_formats.hifide.kinds import PORTALS

if TYPE_CHECKING:
    from dataflow.authoring import Notes
    from dataflow_formats.hifide.parts import HifideFlow, Node

__all__ = ["bridge"]


def bridge(flow: HifideFlow, notes: Notes) -> None:
    """Take the portals out of a flow; those that lead nowhere are told."""
    portals = {id: node for id, node in flow.nodes.items() if node.kind in PORTALS}
    if not portals:
        return
    into = [edge for edge in flow.edges if edge.target in portals]
    out = [edge for edge in flow.edges if edge.source in portals]
    flow.edges = [edge for edge in flow.edges if edge.source not in portals and edge.target not in portals]
    used: set[str] = set()
    for given in into:
        for taken in out:
            same = _name(portals[given.target]) == _name(portals[taken.source])
            if same and given.input == taken.output:
                used |= {given.target, taken.source}
                joined = replace(given, target=taken.target, input=taken.input, is_bridge=True)
                flow.edges.append(joined)
    for id in [id for id in portals if id not in used]:
        notes.remark(id, "a portal that no other of its id and port meets", "it leads nowhere")
    for id in portals:
        del flow.nodes[id]


def _name(portal: Node) -> str:
    found = portal.config.get("id")
    return found if isinstance(found, str) else ""
