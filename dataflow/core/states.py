"""States of runs and nodes, and the tokens that edges carry: value, skip, error."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.failure import error_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataflow.base.failure import Failure

__all__ = [
    "CANCELLED",
    "DONE",
    "ENDED",
    "FAILED",
    "NOT_RUN",
    "NO_EDGE",
    "PAUSED",
    "READY",
    "RELEASED",
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
    """The state of a node. A node that was cancelled, cut short or never run is not reported as done.

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
    """The status of a run."""

    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class LoopEnd(StrEnum):
    """Why a loop has ended."""

    CONDITION = "condition"
    EXHAUSTED = "exhausted"
    LIMIT = "max_iterations"
    FAILED = "failed"


#: The final statuses of a run, unless it is resumed.
ENDED: Final = (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED)
#: The states as numbers: a frame stores one byte for each of its nodes.
STATES: Final = tuple(NodeState)
WAITING, READY, RUNNING, PAUSED, DONE, SKIPPED, FAILED, TIMED_OUT, CANCELLED, NOT_RUN = range(len(STATES))


class _Unsettled:
    __slots__ = ()

    def __repr__(self) -> str:
        return "UNSETTLED"


#: The content of a slot whose port has not settled yet.
UNSETTLED: Final = _Unsettled()


class _Released:
    __slots__ = ()

    def __repr__(self) -> str:
        return "RELEASED"


#: The content of a slot whose value was released, as it has no more readers (S8.5).
RELEASED: Final = _Released()


@dataclass(frozen=True, slots=True, eq=False)
class Skip:
    """The token of a port without a value. `place` is the path of the node that decided it."""

    place: str
    reason: str
    cause: Skip | Errored | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Errored:
    """The token of a port without a value after a failure; `besides` are the other errors of a lost race."""

    place: str
    failure: Failure
    cause: Skip | Errored | None = None
    besides: tuple[Errored, ...] = ()

    @property
    def reason(self) -> str:
        return f"{self.failure.path} failed: {error_line(self.failure)}"


#: The token of an edge in an iteration where it does not count (S6.3): an edge from outside after the first
#: iteration, a feedback edge in the first. A port without other edges is then not connected.
NO_EDGE: Final = Skip("", "no edge into it counts in this round")


@dataclass(frozen=True, slots=True, eq=False)
class Remembered:
    """The token of a value that is still in a store, as no node has needed it so far (S13.1).

    It is used only where all readers are nodes with a memo, which need just its content hash. `read` blocks,
    and raises StoreError.
    """

    read: Callable[[], Any]


def value_of(token: Any) -> Any:
    """Return the value of a token, reading it if it is still in a store; other tokens are unchanged."""
    return token.read() if type(token) is Remembered else token


def is_dead(token: object) -> bool:
    """Return whether a token has no value; unlike `isinstance` it runs no code of a user's object."""
    kind = type(token)
    return kind is Skip or kind is Errored


def chain(token: Skip | Errored) -> Iterator[Skip | Errored]:
    """Yield a token and its causes, back to the original decision or failure."""
    current: Skip | Errored | None = token
    while current is not None:
        yield current
        current = current.cause
