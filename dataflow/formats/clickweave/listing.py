"""The node types that only flows of Clickweave need."""

from __future__ import annotations

from typing import Final

from dataflow.packs import Pack

__all__ = ["pack"]

_NODES: Final = "dataflow.formats.clickweave.nodes"

#: Found by entry point.
pack: Final = Pack(
    "clickweave",
    version="1",
    api=1,
    nodes={
        "call": f"{_NODES}.calling:call",
        "if": f"{_NODES}.branching:if_",
        "switch": f"{_NODES}.branching:switch",
        "end_loop": f"{_NODES}.branching:end_loop",
        "end": f"{_NODES}.ending:end",
        "unused": f"{_NODES}.ending:unused",
    },
)
