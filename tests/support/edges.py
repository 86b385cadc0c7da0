"""Maps over edges in flows of the builder, which has no function for them: only foreign formats need them."""

from __future__ import annotations

from typing import Any, TypeVar

from dataflow.builder.sources import Expression, literally
from dataflow.core.wiring import Every

T = TypeVar("T")


def every(*ports: T) -> T:
    """Open a map over edges: what reads it runs once for each that brings a value (S7.4)."""
    item: Any = Expression("every", tuple(map(literally, ports)), Every)
    found: T = item
    return found
