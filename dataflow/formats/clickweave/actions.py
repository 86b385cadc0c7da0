"""The node type and the config of each node that does something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dataflow.formats.clickweave.calls import ALIASES, invocation_of

if TYPE_CHECKING:
    from dataflow.formats.clickweave.files import FileNode
    from dataflow.formats.clickweave.settings import Settings

__all__ = ["Action", "action_of"]


@dataclass(frozen=True, slots=True)
class Action:
    """A node type and its config."""

    type: str
    config: dict[str, Any]


def action_of(node: FileNode, settings: Settings) -> Action:
    """Choose the node type that does what a node of the file does."""
    kind = node.node_type
    shared: dict[str, Any] = {"name": node.name}
    if kind.type in ALIASES:
        shared["alias"] = ALIASES[kind.type]
    if node.settle_ms:
        shared["settle"] = node.settle_ms / 1000
    call = invocation_of(kind)
    assert call is not None
    config = {**shared, "tool": call.tool, "arguments": dict(call.arguments)}
    return Action("clickweave.call", config)
