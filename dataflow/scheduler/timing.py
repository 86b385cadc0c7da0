"""Timing: how long a run has been executed, and when it has to have ended (S9.2, S11.2)."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Clock", "Timing"]


class Clock:
    """The time that a run has been executed, in seconds from some moment on; it can be stopped."""

    __slots__ = ("_ahead", "_stopped", "_time")

    def __init__(self, time: Callable[[], float]) -> None:
        self._time = time  # of the event loop
        self._ahead = 0.0  # by which that is ahead
        self._stopped: float | None = None

    def __call__(self) -> float:
        return self._time() - self._ahead if self._stopped is None else self._stopped

    def stop(self) -> None:
        """Let the time stand still."""
        self._stopped = self()

    def go_on(self, time: Callable[[], float] | None = None) -> None:
        """Let the time go on from where it was stopped, by the time of an event loop that may be another."""
        assert self._stopped is not None, "only a clock that was stopped goes on"
        self._time = time or self._time
        self._ahead, self._stopped = self._time() - self._stopped, None


class Timing:
    """The part of the scheduler that knows the time of the whole run; waiting for answers is none of it."""

    def __init__(self, scheduler: Scheduler, clock: Clock) -> None:
        self.scheduler = scheduler
        self._clock = clock
        self._begun = clock()
        self._until = inf  # when the run has to have ended

    def bound(self, elapsed: float = 0.0) -> None:
        """Have the run fail when its time is over, of which it has taken some seconds already."""
        timeout = self.scheduler.settings.timeout
        self._begun = self._clock() - elapsed
        if timeout is not None:
            left = max(0.0, timeout - elapsed)
            self._until = self._clock() + left
            self.scheduler.timers.set(left, self.scheduler.failing.run_timed_out, is_awaited=False)

    @property
    def elapsed(self) -> float:
        """How long the run has been executed, in seconds."""
        return self._clock() - self._begun

    @property
    def is_over(self) -> bool:
        """Whether the run should have ended by now."""
        return self._clock() >= self._until

    def stop(self) -> None:
        """Let the time stand still, with all timers: the run pauses."""
        self._clock.stop()
        self.scheduler.timers.suspend()

    def go_on(self, time: Callable[[], float] | None = None) -> None:
        """Let the time go on where it stood, by the time of an event loop that may be another."""
        self._clock.go_on(time)
        self.scheduler.timers.go_on()
