"""`clickweave.end`: where every walk ends."""

from __future__ import annotations

from typing import Any, NamedTuple

from dataflow.context import ExecutionContext
from dataflow.formats.clickweave.nodes.state import public_variables

__all__ = ["Ended", "end", "unused"]


class Ended(NamedTuple):
    """What a walk comes to."""

    variables: dict[str, Any]


async def end(walk: ExecutionContext) -> Ended:
    """End a walk: give the variables that its nodes have set."""
    return Ended(public_variables(walk))


async def unused() -> None:
    """Stand for a node that no walk comes to, or that is disabled; it is never run."""
