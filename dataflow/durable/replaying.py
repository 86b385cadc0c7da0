"""Replaying: a run is taken as far as its journal tells, without a call of its nodes (S11.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anyio.lowlevel import checkpoint

if TYPE_CHECKING:
    from dataflow.durable.restoring import Restoring
    from dataflow.scheduler.frames import FiringId
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["replay"]


async def replay(scheduler: Scheduler, restoring: Restoring, inputs: dict[str, Any]) -> list[FiringId]:
    """Start a run and settle all that is known of it; returns the firings that the journal does not tell.

    The event loop has its turn between two stretches of work.
    """
    unknown = scheduler.start(inputs)
    while scheduler.has_more or (scheduler.has_items and restoring.has_items_left):
        await checkpoint()
        unknown += scheduler.advance() if scheduler.has_more else scheduler.begin_items()
    return unknown
