"""The node types that only flows of HiFide need."""

from __future__ import annotations

from typing import Final

from dataflow import Pack

__all__ = ["pack"]

#: What stores and documents of before name, by the modules that were part of the names.
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
    former={
        f"{module}:{name}": f"hifide:{name}" for module, names in FORMER.items() for name in names.split()
    },
)
