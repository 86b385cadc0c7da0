"""The node types that only flows of Agentron Studio need."""

from __future__ import annotations

from typing import Final

from dataflow import Pack

__all__ = ["pack"]

#: Found by entry point.
pack: Final = Pack(
    "agentron",
    version="1",
    api=1,
    nodes={
        "start": "dataflow.formats.agentron.walking:start",
        "tell": "dataflow.formats.agentron.walking:tell",
        "next": "dataflow.formats.agentron.walking:next_node",
        "loop": "dataflow.formats.agentron.walking:loop",
        "result": "dataflow.formats.agentron.walking:result",
        "wait": "dataflow.formats.agentron.helping:wait",
    },
)
