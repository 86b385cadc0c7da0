"""The edges that formats write into native documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataflow.formats.foreign import JsonDict

__all__ = ["edge_of"]


def edge_of(source: str, source_port: str, target: str, target_port: str, **more: Any) -> JsonDict:
    """Write an edge, with whatever else it says of itself."""
    ends = {"source": source, "source_port": source_port, "target": target, "target_port": target_port}
    return {**ends, **more}
