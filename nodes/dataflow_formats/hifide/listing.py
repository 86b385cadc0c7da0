"""The node types that only flows of HiFide need."""

from __future__ import annotations

from typing import Final

from dataflow import Pack
from dataflow.authoring import kinds_of, moved_names
from dataflow_formats.hifide import diagnostics

__all__ = ["pack"]

#: Former names in stores and documents, by the modules that they contain.
FORMER: Final = {
    "dataflow.formats.hifide.cache_nodes": "Cache Keep cache_by.<locals>.cache keep_by.<locals>.keep",
    "dataflow.formats.hifide.nodes": (
        "Inject Inputs Manual NewContext Told inject_messages latest manual_input message new_context said"
    ),
}

NAMES: Final = (
    "inject_messages",
    "latest",
    "manual_input",
    "message",
    "new_context",
    "said",
    "cache",
    "keep",
)

#: Found by entry point.
pack: Final = Pack(
    "hifide",
    version="1",
    api=1,
    nodes={name: f"dataflow_formats.hifide.nodes:{name}" for name in NAMES},
    former=moved_names("hifide", FORMER),
    diagnostics=kinds_of(diagnostics),
)
