"""The node types that only flows of Agentron Studio need."""

from __future__ import annotations

from typing import Final

from dataflow import Pack
from dataflow.authoring import kinds_of, moved_names
from dataflow_formats.agentron import diagnostics

__all__ = ["pack"]

#: Former names in stores and documents, by the modules that they contain.
FORMER: Final = {
    "dataflow.formats.agentron.conditions": "Condition",
    "dataflow.formats.agentron.helping": "Reply Wait request_user_help wait",
    "dataflow.formats.agentron.walking": "Exit Next Tell next_node result start tell",
    "dataflow.formats.agentron.walks": "Turn Walk",
}

#: Found by entry point.
pack: Final = Pack(
    "agentron",
    version="1",
    api=1,
    nodes={
        "start": "dataflow_formats.agentron.nodes:start",
        "tell": "dataflow_formats.agentron.nodes:tell",
        "next": "dataflow_formats.agentron.nodes:next_node",
        "loop": "dataflow_formats.agentron.nodes:loop",
        "result": "dataflow_formats.agentron.nodes:result",
        "wait": "dataflow_formats.agentron.nodes:wait",
    },
    former=moved_names("agentron", FORMER),
    diagnostics=kinds_of(diagnostics),
)
