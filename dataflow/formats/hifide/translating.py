"""Files of HiFide: recognised by their content, and translated into native documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.formats.foreign import Format
from dataflow.formats.shapes import entries_of, within

if TYPE_CHECKING:
    from dataflow.formats.foreign import JsonDict, Notes, Options

__all__ = ["FORMAT"]


def recognises(data: Any) -> bool:
    """Tell whether what a file holds is a flow of HiFide."""
    if not isinstance(data, dict) or "connections" in data:
        return False
    nodes, edges = entries_of(data, "nodes"), entries_of(data, "edges")
    return any("nodeType" in node or "nodeType" in within(node, "data") for node in nodes) or any(
        "sourceHandle" in edge or "sourceOutput" in edge for edge in edges
    )


def translate(data: Any, options: Options, notes: Notes) -> JsonDict:  # noqa: ARG001 - refuses all
    """Translate a file that has been read into a native document."""
    notes.problem((), "is a file of HiFide, which cannot be loaded yet")
    return {}


FORMAT: Final = Format("hifide", recognises, translate)
