"""How a model is to answer in a conversation: as the node says that has begun it, unless the chat says so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dataflow_formats.hifide.kinds import CHAT, NEW, ROUTER, START

if TYPE_CHECKING:
    from dataflow_formats.hifide.parts import HifideFlow

__all__ = ["settle_sampling"]

_SETTINGS: Final = ("temperature", "reasoningEffort")


def settle_sampling(flow: HifideFlow) -> None:
    """Give each chat the settings of the one node that can have begun its conversation."""
    beginnings: dict[str, set[str]] = {}
    for id, node in flow.nodes.items():
        if node.kind in (START, NEW):
            for reached in _reached(flow, id):
                beginnings.setdefault(reached, set()).add(id)
    for id, found in beginnings.items():
        node = flow.nodes[id]
        if node.kind not in (CHAT, ROUTER) or len(found) > 1:
            continue
        begun = flow.nodes[next(iter(found))].config
        given = {key: begun[key] for key in _SETTINGS if begun.get(key) is not None}
        own = {key: value for key, value in node.config.items() if value is not None}
        if given:
            flow.nodes[id] = replace(node, config={**given, **own})


def _reached(flow: HifideFlow, start: str) -> set[str]:
    """Return the nodes that a conversation comes to, up to those that begin others."""
    leaving: dict[str, list[str]] = {}
    for edge in flow.edges:
        if edge.input == "context":
            leaving.setdefault(edge.source, []).append(edge.target)
    found: set[str] = set()
    left = [start]
    while left:
        for target in leaving.get(left.pop(), ()):
            if target not in found and flow.nodes[target].kind not in (START, NEW):
                found.add(target)
                left.append(target)
    return found
