"""The node types that only flows of AgentFlow need."""

from __future__ import annotations

from typing import Final

from dataflow import Pack

__all__ = ["pack"]

_NODES: Final = "dataflow.formats.agentflow.nodes.passing"

#: Found by entry point.
pack: Final = Pack(
    "agentflow",
    version="1",
    api=1,
    nodes={
        "start": f"{_NODES}:start",
        "tell": f"{_NODES}:tell",
        "pass_on": f"{_NODES}:pass_on",
        "if": f"{_NODES}:if_",
        "ask": f"{_NODES}:ask",
        "decide": f"{_NODES}:decide",
        "join": f"{_NODES}:join",
        "loop": f"{_NODES}:loop",
    },
)
