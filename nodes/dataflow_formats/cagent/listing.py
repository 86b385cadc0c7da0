"""The node types that only flows of cagent need."""

from __future__ import annotations

from typing import Final

from dataflow import Pack
from dataflow.authoring import kinds_of, moved_names
from dataflow_formats.cagent import diagnostics

__all__ = ["pack"]

#: Former names in stores and documents, by the modules that they contain.
FORMER: Final = {
    "dataflow.formats.cagent.nodes": (
        "Block Condition Finished Loop Outputs Place Text _Strict back condition finish gather "
        "instruction outputs record start"
    ),
    "dataflow.formats.cagent.priors": "Order Ran",
    "dataflow.formats.cagent.state": "State",
}

NAMES: Final = ("start", "record", "gather", "outputs", "condition", "instruction", "back", "finish")

#: Found by entry point.
pack: Final = Pack(
    "cagent",
    version="1",
    api=1,
    nodes={name: f"dataflow_formats.cagent.nodes:{name}" for name in NAMES},
    former=moved_names("cagent", FORMER),
    diagnostics=kinds_of(diagnostics),
)
