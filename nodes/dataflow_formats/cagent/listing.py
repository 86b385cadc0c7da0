"""The node types that only flows of cagent need."""

from __future__ import annotations

from typing import Final

from dataflow import Pack

__all__ = ["pack"]

#: What stores and documents of before name, by the modules that were part of the names.
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
    former={
        f"{module}:{name}": f"cagent:{name}" for module, names in FORMER.items() for name in names.split()
    },
)
