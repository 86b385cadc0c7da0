"""The states of runs and nodes, and how runs and loops end (S18, S19)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

__all__ = [
    "CANCELLED",
    "DONE",
    "ENDED",
    "FAILED",
    "NOT_RUN",
    "PAUSED",
    "READY",
    "RUNNING",
    "SKIPPED",
    "STATES",
    "TIMED_OUT",
    "WAITING",
    "LoopEnd",
    "NodeState",
    "RunStatus",
]


class NodeState(StrEnum):
    """How far a firing has come; a state is never better than the truth (S18).

    `ready` waits for a slot, a worker or its next attempt; `cancelled` was ready or running when its frame
    was closed, `not_run` was waiting. `paused` waits for an answer.
    """

    WAITING = "waiting"
    READY = "ready"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    SKIPPED = "skipped"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    NOT_RUN = "not_run"


class RunStatus(StrEnum):
    """How far a run has come."""

    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class LoopEnd(StrEnum):
    """Why a loop has ended (S19)."""

    CONDITION = "condition"
    EXHAUSTED = "exhausted"
    LIMIT = "max_iterations"
    FAILED = "failed"


#: How a run has ended for good, until somebody resumes it.
ENDED: Final = (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED)

#: The states as numbers, for the byte that a frame has for each of its nodes.
STATES: Final = tuple(NodeState)
WAITING, READY, RUNNING, PAUSED, DONE, SKIPPED, FAILED, TIMED_OUT, CANCELLED, NOT_RUN = range(len(STATES))
