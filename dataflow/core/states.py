"""States of runs and nodes, and the tokens that edges carry: value, skip, error."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.failure import error_told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataflow.base.failure import Failure


__all__ = [
    "CANCELLED",
    "DONE",
    "ENDED",
    "FAILED",
    "LET_GO",
    "NOT_RUN",
    "NO_EDGE",
    "PAUSED",
    "READY",
    "RUNNING",
    "SKIPPED",
    "STATES",
    "TIMED_OUT",
    "UNSETTLED",
    "WAITING",
    "Errored",
    "LoopEnd",
    "NodeState",
    "Remembered",
    "RunStatus",
    "Skip",
    "chain",
    "is_dead",
    "value_of",
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


class _Unsettled:
    __slots__ = ()

    def __repr__(self) -> str:
        return "UNSETTLED"


#: What stands in a slot whose port has not settled yet.
UNSETTLED: Final = _Unsettled()


class _LetGo:
    __slots__ = ()

    def __repr__(self) -> str:
        return "LET_GO"


#: What stands in a slot whose value nobody reads any more (S8.5).
LET_GO: Final = _LetGo()


@dataclass(frozen=True, slots=True, eq=False)
class Skip:
    """The port has no value. `place` is the path of the node that decided it."""

    place: str
    reason: str
    cause: Skip | Errored | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Errored:
    """The port has no value since a node failed; `besides` are the other errors of a race that all lost."""

    place: str
    failure: Failure
    cause: Skip | Errored | None = None
    besides: tuple[Errored, ...] = ()

    @property
    def reason(self) -> str:
        return f"{self.failure.path} failed: {error_told(self.failure)}"


#: What an edge brings in a round in which it does not count (S6.3): one from outside after the first round, a
#: feedback edge in it. A port that has no other edges is not connected then.
NO_EDGE: Final = Skip("", "no edge into it counts in this round")


@dataclass(frozen=True, slots=True, eq=False)
class Remembered:
    """The value stays in a store, since nobody has needed it so far (S13.1).

    It stands only where none but nodes with a memo read it, who are told its digest. `read` blocks; it raises
    StoreError.
    """

    read: Callable[[], Any]


def value_of(token: Any) -> Any:
    """Return what a token stands for, reading it where it stays in a store; other tokens are themselves."""
    return token.read() if type(token) is Remembered else token


def is_dead(token: object) -> bool:
    """Tell whether a token is no value; runs no code of a user's object, as `isinstance` may."""
    kind = type(token)
    return kind is Skip or kind is Errored


def chain(token: Skip | Errored) -> Iterator[Skip | Errored]:
    """Go from a token back to the decision or failure it began with."""
    current: Skip | Errored | None = token
    while current is not None:
        yield current
        current = current.cause
