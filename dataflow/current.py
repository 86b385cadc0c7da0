"""What a node may know about its own firing."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CURRENT", "Firing", "FiringSource", "ThreadSource", "this_firing"]


def _drop(piece: object, port: str) -> None:
    """Outside a run nobody listens to pieces."""


def _never() -> bool:
    """Outside a run nothing is cancelled."""
    return False


class _NoSitting:
    """Stands where a sitting would, outside a run."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True)
class Firing:
    """One firing: the run, its path in it (S2.2) and which attempt this is, from 1.

    `sitting` is one object for all firings of a sitting (S11.3) or of a live session, and ends with it: a key
    for a `WeakKeyDictionary`. Outside a run the texts are empty, nothing is cancelled, pieces are dropped,
    and each firing has a sitting of its own.
    """

    run_id: str
    path: str
    attempt: int = 1
    _emit: Callable[[object, str], None] = _drop
    _is_cancelled: Callable[[], bool] = _never
    sitting: object = field(default_factory=_NoSitting, compare=False, repr=False)

    @property
    def key(self) -> str:
        """Name the firing, the same in every attempt: an idempotency key for servers (S9.1)."""
        return f"{self.run_id}/{self.path}" if self.run_id else ""

    def cancelled(self) -> bool:
        """Tell whether what this firing does is no longer wanted; blocking code asks, to stop early."""
        return self._is_cancelled()

    def emit(self, piece: object, *, port: str = "out") -> None:
        """Give out a piece of a port while the node runs; its value is what the node returns (S3.5).

        Any thread may call it.
        """
        self._emit(piece, port)


class FiringSource(Protocol):
    """Whoever runs firings and can tell which one runs now."""

    def this_firing(self) -> Firing: ...

    def in_thread(self) -> ThreadSource:
        """Return what a thread of the firing finds in its place."""


class ThreadSource(FiringSource, Protocol):
    """What a thread of a firing finds; the thread may be given up while the firing goes on."""

    def abandon(self) -> Callable[[], None]:
        """Note that the thread runs on, though nobody waits for it; returns what to call at its end."""


CURRENT: Final[ContextVar[FiringSource]] = ContextVar("dataflow firing")


def this_firing() -> Firing:
    """Return the firing that runs this code, also in a thread of it; outside a run a stand-in."""
    source = CURRENT.get(None)
    return source.this_firing() if source is not None else Firing("", "")
