"""Timers: steps that the scheduler wants taken after a time, such as the next attempt of a call (S9.1).

The scheduler only asks for them: the acting side sleeps (`sleepers`) and calls `Scheduler.due`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataflow.scheduler.frames import Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Timer", "Timers"]


class Timer:
    """A step to be taken `delay` seconds after it was asked for, at `until`, unless it is dropped."""

    __slots__ = ("delay", "frame", "is_awaited", "step", "until")

    def __init__(
        self, delay: float, until: float, step: Callable[[], None], frame: Frame | None, is_awaited: bool
    ) -> None:
        self.delay = delay
        self.until = until
        self.step = step
        self.frame = frame
        self.is_awaited = is_awaited


class Timers:
    """The part of the scheduler that keeps its timers."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self._open: dict[Timer, None] = {}
        self._awaited = 0  # how many of them
        self._of_frames: dict[Frame, dict[Timer, None]] = {}
        self._asked: list[Timer] = []
        self._dropped: list[Timer] = []

    @property
    def are_awaited(self) -> bool:
        """Whether the run may still go on by itself: it is not at its end while one is open."""
        return bool(self._awaited)

    def __contains__(self, timer: Timer | None) -> bool:
        """Tell whether a timer is open."""
        return timer in self._open

    def set(
        self, delay: float, step: Callable[[], None], frame: Frame | None = None, *, is_awaited: bool = True
    ) -> Timer:
        """Ask for a step after a delay in seconds; it is dropped when its frame closes or ends.

        `step` changes the state of the scheduler (makes ready, fails, closes) and never waits. A timer
        that only bounds the time of something else is not awaited.
        """
        timer = Timer(delay, self.scheduler.clock() + delay, step, frame, is_awaited)
        self._open[timer] = None
        self._awaited += is_awaited
        if frame is not None:
            self._of_frames.setdefault(frame, {})[timer] = None
        self._asked.append(timer)
        self.scheduler.to_act = True
        return timer

    def drop(self, timer: Timer) -> None:
        """Let a timer go; of one that was due or dropped before there is nothing to do."""
        if self.close(timer):
            self._dropped.append(timer)
            self.scheduler.to_act = True

    def drop_of(self, frame: Frame) -> None:
        """Let the timers of a frame go."""
        if frame in self._of_frames:
            for timer in tuple(self._of_frames[frame]):
                self.drop(timer)

    def drop_all(self) -> None:
        """Let every timer go: the run has ended."""
        for timer in tuple(self._open):
            self.drop(timer)

    def suspend(self) -> None:
        """Have nobody sleep for the timers until the run goes on."""
        self._dropped += self._open
        self._asked.clear()
        self.scheduler.to_act = True

    def go_on(self) -> None:
        """Have somebody sleep again for each of the timers, for the rest of its time."""
        now = self.scheduler.clock()
        for timer in self._open:
            timer.delay = max(0.0, timer.until - now)
        self._asked += self._open
        self.scheduler.to_act = True

    def close(self, timer: Timer) -> bool:
        """Close a timer; tells whether it was open, so that its step is to be taken."""
        if timer not in self._open:
            return False
        del self._open[timer]
        self._awaited -= timer.is_awaited
        if timer.frame is not None:
            of_frame = self._of_frames[timer.frame]
            del of_frame[timer]
            if not of_frame:
                del self._of_frames[timer.frame]
        return True

    def news(self) -> tuple[list[Timer], list[Timer]]:
        """Return the timers that were asked for, and those dropped, since the last call."""
        asked, self._asked = [timer for timer in self._asked if timer in self._open], []
        dropped, self._dropped = self._dropped, []
        return asked, dropped
