"""The node types that only flows of cagent need."""

from __future__ import annotations

from typing import Final

from dataflow import Pack

__all__ = ["pack"]

NAMES: Final = ("start", "record", "gather", "outputs", "condition", "instruction", "back", "finish")

#: Found by entry point.
pack: Final = Pack(
    "cagent",
    version="1",
    api=1,
    nodes={name: f"dataflow.formats.cagent.nodes:{name}" for name in NAMES},
)
