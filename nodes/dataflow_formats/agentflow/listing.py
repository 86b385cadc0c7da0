"""The node types that only flows of AgentFlow need."""

from __future__ import annotations

from typing import Final

from dataflow import Pack
from dataflow.authoring import kinds_of, moved_names
from dataflow_formats.agentflow import diagnostics

__all__ = ["pack"]

#: Former names in stores and documents, by the modules that they contain.
FORMER: Final = {
    "dataflow.formats.agentflow.conditions": "Condition",
    "dataflow.formats.agentflow.nodes.passing": (
        "If Passed Passing Prompt Question Start ask decide if_ join pass_on start tell"
    ),
}

_NODES: Final = "dataflow_formats.agentflow.nodes"

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
    former=moved_names("agentflow", FORMER),
    diagnostics=kinds_of(diagnostics),
)
