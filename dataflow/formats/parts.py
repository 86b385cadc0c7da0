"""What formats write into native documents: edges, and names that nothing else has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

    from dataflow.formats.foreign import JsonDict

__all__ = ["edge_of", "free_name"]


def edge_of(source: str, source_port: str, target: str, target_port: str, **more: Any) -> JsonDict:
    """Write an edge, with whatever else it says of itself."""
    ends = {"source": source, "source_port": source_port, "target": target, "target_port": target_port}
    return {**ends, **more}


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: the given one, or with a number behind it."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found
