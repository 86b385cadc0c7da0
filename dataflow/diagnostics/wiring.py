"""Problems of the graph definition: names, ports, edges and blocks (DF02)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

PORT_USED_AS_VALUE: Final = Kind(
    "DF0201",
    "a port has no value while the flow is wired, so it cannot be used with {use}",
    hint="{advice}",
    meaning="An output port of a node was used as if it were the value that the node will return.",
    example="if flow.add(count).out > 3: ...",
    cure="Decide inside a node, or with a branch, a switch or a loop of the flow.",
)
