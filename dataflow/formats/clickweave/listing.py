"""The node types that only flows of Clickweave need."""

from __future__ import annotations

from typing import Final

from dataflow import Pack

__all__ = ["pack"]

_NODES: Final = "dataflow.formats.clickweave.nodes"

#: Found by entry point.
pack: Final = Pack(
    "clickweave",
    version="1",
    api=1,
    nodes={
        "call": f"{_NODES}.calling:call",
        "app_call": f"{_NODES}.apps:app_call",
        "find_text": f"{_NODES}.finding:find_text",
        "click": f"{_NODES}.finding:click",
        "ai_step": f"{_NODES}.ai_steps:ai_step",
        "if": f"{_NODES}.branching:if_",
        "switch": f"{_NODES}.branching:switch",
        "end_loop": f"{_NODES}.branching:end_loop",
        "checks": f"{_NODES}.checks:checks",
        "end": f"{_NODES}.ending:end",
        "unused": f"{_NODES}.ending:unused",
    },
)
