"""Gates: slots and starts per second that firings share, also across runs and threads (S15.1)."""

from __future__ import annotations

import math
import threading
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TAKEN", "Gate", "Waiter"]

#: What `take` returns when the caller has the slot.
TAKEN: Final = 0.0


class Waiter(Protocol):
    """Whoever waits in line at a gate. `wake` is called from any thread when it is worth asking again."""

    def wake(self) -> None: ...


class Gate:
    """Slots, a least time between starts, and the line of those who wait; any thread may use it.

    Who waits stays in line, and who is not the first of the line is not let through: first come, first
    served. Nobody holds a slot while it waits for anything else.
    """

    def __init__(
        self, slots: int | None, per_second: float | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        self._free: float = math.inf if slots is None else slots
        self._apart = 0.0 if per_second is None else 1 / per_second
        self._clock = clock
        self._lock = threading.Lock()
        self._line: dict[Waiter, None] = {}
        self._next_start = -math.inf
        self._is_starting = False  # the last that was let through has not begun yet

    def take(self, waiter: Waiter) -> float:
        """Take a slot, or stand in line.

        Returns TAKEN, or how many seconds later to ask again; infinite if the waiter will be woken.
        """
        with self._lock:
            wait = self._wait_of(waiter)
            if wait != TAKEN:
                self._line.setdefault(waiter)
                return wait
            self._line.pop(waiter, None)
            self._free -= 1
            self._is_starting = bool(self._apart)
            first = self._first()
        _wake(first)
        return TAKEN

    def started(self) -> None:
        """Note that who was let through last has begun: the time to the next start counts from now."""
        if not self._apart:
            return
        with self._lock:
            if not self._is_starting:
                return
            self._is_starting = False
            self._next_start = self._clock() + self._apart
            first = self._first()
        _wake(first)

    def release(self, *, has_begun: bool = True) -> None:
        """Give a slot back; if what had it never began, its start does not count."""
        with self._lock:
            self._free += 1
            if not has_begun:
                self._is_starting = False
            first = self._first()
        _wake(first)

    def leave(self, waiter: Waiter) -> None:
        """Leave the line."""
        with self._lock:
            if waiter not in self._line:
                return
            del self._line[waiter]
            first = self._first()
        _wake(first)

    def _wait_of(self, waiter: Waiter) -> float:
        if self._free < 1 or self._is_starting or (self._line and next(iter(self._line)) is not waiter):
            return math.inf
        return max(TAKEN, self._next_start - self._clock())

    def _first(self) -> Waiter | None:
        """Return who may ask now."""
        return next(iter(self._line), None) if self._free >= 1 and not self._is_starting else None


def _wake(waiter: Waiter | None) -> None:
    """Wake outside the lock: what is woken may ask at once."""
    if waiter is not None:
        waiter.wake()
