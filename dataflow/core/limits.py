"""Concurrency and rate limits, the gates that they share, and checks of numbers in settings."""

from __future__ import annotations

import math
import threading
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol

from dataflow.core.keywords import naming_settings
from dataflow.diagnostics.arguments import ARGUMENT_INVALID, LIMIT_EMPTY
from dataflow.errors import ArgumentInvalid

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "TAKEN",
    "Gate",
    "Limit",
    "Waiter",
    "check_not_negative",
    "check_positive",
    "check_positive_or_none",
    "check_whole",
]

#: What `Gate.take` returns when the caller has the slot.
TAKEN: Final = 0.0


def check_whole(name: str, value: object, least: int) -> None:
    """Raise ValueError unless the value is an integer of `least` or more."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ArgumentInvalid(
            ARGUMENT_INVALID(name=name, expected=f"an integer of {least} or more", found=repr(value))
        )


def check_positive(name: str, value: object) -> None:
    """Raise ValueError unless the value is a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ArgumentInvalid(ARGUMENT_INVALID(name=name, expected="a positive number", found=repr(value)))


def check_not_negative(name: str, value: object) -> None:
    """Raise ValueError unless the value is a finite number of 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ArgumentInvalid(
            ARGUMENT_INVALID(name=name, expected="a number of 0 or more", found=repr(value))
        )


def check_positive_or_none(name: str, value: object) -> None:
    """Raise ValueError unless the value is None or a finite number above 0."""
    if value is not None:
        check_positive(name, value)


class Limit:
    """A concurrency or rate limit; one object used by several flows is shared by their runs.

    `slots` is how many calls may run concurrently, `per_second` how many may start in a second, evenly
    spaced. Raises ValueError if both are missing. Pass it to `using(limits=)`.
    """

    __slots__ = ("gate", "per_second", "slots")

    @naming_settings("Limit")
    def __init__(self, slots: int | None = None, *, per_second: float | None = None) -> None:
        if slots is None and per_second is None:
            raise ArgumentInvalid(LIMIT_EMPTY())
        if slots is not None:
            check_whole("slots", slots, 1)
        check_positive_or_none("per_second", per_second)
        self.slots = slots
        self.per_second = per_second
        self.gate = Gate(slots, per_second)


class Waiter(Protocol):
    """A waiter in the queue of a gate. `wake` is called from any thread when it may take again."""

    def wake(self) -> None: ...


class Gate:
    """Slots, a minimum time between starts, and a queue of waiters; thread-safe.

    Waiters are served first come, first served. No waiter keeps a slot while it waits for something else.
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
        self._is_starting = False  # the last waiter that took a slot has not started yet

    def take(self, waiter: Waiter) -> float:
        """Take a slot, or join the queue.

        Returns TAKEN, or the seconds after which to try again; infinite if the waiter will be woken.
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
        """Note that the last waiter that took a slot has started; the next may start `_apart` later."""
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
        """Release a slot; with `has_begun=False` its user never started, which does not count as a start."""
        with self._lock:
            self._free += 1
            if not has_begun:
                self._is_starting = False
            first = self._first()
        _wake(first)

    def leave(self, waiter: Waiter) -> None:
        """Leave the queue."""
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
        """Return the waiter that may try now."""
        return next(iter(self._line), None) if self._free >= 1 and not self._is_starting else None


def _wake(waiter: Waiter | None) -> None:
    """Wake a waiter; called outside the lock, as it may try again immediately."""
    if waiter is not None:
        waiter.wake()
