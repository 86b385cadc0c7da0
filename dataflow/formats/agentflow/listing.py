"""The node types that only flows of AgentFlow need."""

from __future__ import annotations

from typing import Final

from dataflow.packs import Pack

__all__ = ["pack"]

#: Found by entry point.
pack: Final = Pack(
    "agentflow",
    version="1",
    api=1,
    nodes={
        "start": "dataflow.formats.agentflow.passing:start",
        "tell": "dataflow.formats.agentflow.passing:tell",
        "pass_on": "dataflow.formats.agentflow.passing:pass_on",
        "if": "dataflow.formats.agentflow.passing:if_",
        "ask": "dataflow.formats.agentflow.passing:ask",
        "decide": "dataflow.formats.agentflow.passing:decide",
        "join": "dataflow.formats.agentflow.passing:join",
    },
)
