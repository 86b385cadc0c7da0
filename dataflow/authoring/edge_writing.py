"""The edges and sources that formats write into native documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.core.wiring import Reference, write_reference

if TYPE_CHECKING:
    from dataflow.formats.foreign import JsonDict

__all__ = ["write_edge", "write_source"]


def write_edge(source: str, source_port: str, target: str, target_port: str, **more: Any) -> JsonDict:
    """Write the edge of a native document from an output port to an input port.

    `more` are the other keys of the edge, such as `feedback=True` and `limit=100`.
    """
    ends = {"source": source, "source_port": source_port, "target": target, "target_port": target_port}
    return {**ends, **more}


def write_source(node: str, port: str = "out") -> str:
    """Write an output port as a source of a native document: `node.port`, and `node` for its port `out`.

    `$in`, `$carry` and `$item` in place of the node name an input of the flow, a carried port and the item of
    a map. Characters that have a meaning in sources are percent-encoded.
    """
    return write_reference(Reference(node, port))
