"""Timers of a run: retries, timeouts, and clocks that stop while an answer is awaited."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from dataflow.compiler.plan import Call
from dataflow.core.states import PAUSED, READY, RUNNING, STATES, NodeState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataflow.compiler.plan import PlanNode
    from dataflow.scheduler.frames import Frame, OpenedFlow
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Clock", "Standing", "Timer", "Timers", "Timing", "state_of"]


class Timer:
    """A step to be taken `delay` seconds after it was set, at `until`, unless it is dropped."""

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
        self.in_frames: dict[
            Frame, dict[Timer, None]
        ] = {}  # open ones, which a scope instance drops at its end
        self._asked: list[Timer] = []
        self._dropped: list[Timer] = []

    @property
    def are_awaited(self) -> bool:
        """Whether the run may still continue by itself: it does not end while such a timer is open."""
        return bool(self._awaited)

    def __contains__(self, timer: Timer | None) -> bool:
        """Return whether a timer is open."""
        return timer in self._open

    def set(
        self, delay: float, step: Callable[[], None], frame: Frame | None = None, *, is_awaited: bool = True
    ) -> Timer:
        """Set a step to take after a delay in seconds; it is dropped when its scope instance closes or ends.

        `step` changes the state of the scheduler (makes ready, fails, closes) and never waits. A timer that
        only limits the time of something else is not awaited.
        """
        timer = Timer(delay, self.scheduler.clock() + delay, step, frame, is_awaited)
        self._open[timer] = None
        self._awaited += is_awaited
        if frame is not None:
            self.in_frames.setdefault(frame, {})[timer] = None
        self._asked.append(timer)
        self.scheduler.to_act = True
        return timer

    def drop(self, timer: Timer) -> None:
        """Drop a timer, unless it is closed already."""
        if self.close(timer):
            self._dropped.append(timer)
            self.scheduler.to_act = True

    def drop_of(self, frame: Frame) -> None:
        """Drop the timers of a scope instance."""
        if frame in self.in_frames:
            for timer in tuple(self.in_frames[frame]):
                self.drop(timer)

    def drop_all(self) -> None:
        """Drop all timers: the run has ended."""
        for timer in tuple(self._open):
            self.drop(timer)

    def suspend(self) -> None:
        """Stop the sleeping tasks of all timers until the run continues."""
        self._dropped += self._open
        self._asked.clear()
        self.scheduler.to_act = True

    def go_on(self) -> None:
        """Start the sleeping tasks of all timers again, for the rest of their time."""
        now = self.scheduler.clock()
        for timer in self._open:
            timer.delay = max(0.0, timer.until - now)
        self._asked += self._open
        self.scheduler.to_act = True

    def close(self, timer: Timer) -> bool:
        """Close a timer; return whether it was open, so that its step is to be taken."""
        if timer not in self._open:
            return False
        del self._open[timer]
        self._awaited -= timer.is_awaited
        if timer.frame is not None:
            of_frame = self.in_frames[timer.frame]
            del of_frame[timer]
            if not of_frame:
                del self.in_frames[timer.frame]
        return True

    def news(self) -> tuple[list[Timer], list[Timer]]:
        """Return the timers that were set, and those dropped, since the last call."""
        asked, self._asked = [timer for timer in self._asked if timer in self._open], []
        dropped, self._dropped = self._dropped, []
        return asked, dropped


class Clock:
    """The time that a run has been executed, in seconds since an arbitrary start; it can be stopped."""

    __slots__ = ("_ahead", "_stopped", "_time")

    def __init__(self, time: Callable[[], float]) -> None:
        self._time = time  # of the event loop
        self._ahead = 0.0  # by which that is ahead
        self._stopped: float | None = None

    def __call__(self) -> float:
        return self._time() - self._ahead if self._stopped is None else self._stopped

    def stop(self) -> None:
        """Stop the time."""
        self._stopped = self()

    def go_on(self, time: Callable[[], float] | None = None) -> None:
        """Continue the time from where it was stopped, by the clock of a possibly different event loop."""
        assert self._stopped is not None, "only a clock that was stopped goes on"
        self._time = time or self._time
        self._ahead, self._stopped = self._time() - self._stopped, None


class Timing:
    """The part of the scheduler that measures the time of the whole run, without waits for answers."""

    def __init__(self, scheduler: Scheduler, clock: Clock) -> None:
        self.scheduler = scheduler
        self._clock = clock
        self._begun = clock()
        self._until = inf  # the deadline of the run

    def bound(self, elapsed: float = 0.0) -> None:
        """Have the run fail at its timeout, of which some seconds have elapsed already."""
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
        """Whether the run has exceeded its timeout."""
        return self._clock() >= self._until

    def stop(self) -> None:
        """Stop the time, with all timers: the run pauses."""
        self._clock.stop()
        self.scheduler.timers.suspend()

    def go_on(self, time: Callable[[], float] | None = None) -> None:
        """Continue the time, by the clock of a possibly different event loop."""
        self._clock.go_on(time)
        self.scheduler.timers.go_on()


@dataclass(slots=True, eq=False)
class _Bound:
    """An attempt at a subflow with a limited time."""

    opened: OpenedFlow
    end: Callable[[], None]
    timer: Timer | None  # None while its time is stopped
    since: float = 0.0  # when it was stopped


class Standing:
    """The part of the scheduler that stops the time of attempts at subflows."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.bounds: dict[Frame, _Bound] = {}  # by the scope instance of the attempt

    def bound(self, inner: Frame, opened: OpenedFlow, end: Callable[[], None]) -> None:
        """Have `end` called at `opened.until`, later by the time that all nodes inside wait for answers."""
        self.scheduler.is_plain = False  # nodes inside may end and leave nothing but asks
        left = opened.until - self.scheduler.clock()
        timer = self.scheduler.timers.set(left, end, inner, is_awaited=False)
        self.bounds[inner] = _Bound(opened, end, timer)

    def times(self) -> dict[str, list[float]]:
        """Return the seconds that each subflow has left of its attempt, and has spent on all, by path."""
        times = {}
        for inner, bound in self.bounds.items():
            outer = inner.parent
            assert outer is not None, "the frame of a flow node is inside a frame"
            now = bound.since if bound.timer is None else self.scheduler.clock()
            begun = outer.attempts_at(inner.owner).begun
            spent = 0.0 if begun is None else now - begun
            times[outer.path_of(outer.plan.nodes[inner.owner])] = [bound.opened.until - now, spent]
        return times

    def forget(self, inner: Frame) -> None:
        """Stop limiting an attempt, which has ended."""
        self.bounds.pop(inner, None)

    def look(self) -> None:
        """Stop the time of attempts that only wait for answers, and continue that of the others."""
        for inner, bound in self.bounds.items():
            is_waiting = bool(self.scheduler.asking.open) and _only_waits([inner])
            if is_waiting and bound.timer is not None:
                self.scheduler.timers.drop(bound.timer)
                bound.timer, bound.since = None, self.scheduler.clock()
            elif not is_waiting and bound.timer is None:
                self._go_on(inner, bound)

    def _go_on(self, inner: Frame, bound: _Bound) -> None:
        """Continue the time: the wait counts neither for the attempt nor for all of them."""
        assert inner.parent is not None, "the frame of a flow node is inside a frame"
        waited = self.scheduler.clock() - bound.since
        bound.opened.until += waited
        attempts = inner.parent.attempts_at(inner.owner)
        if attempts.begun is not None:
            attempts.begun += waited
        left = max(0.0, bound.opened.until - self.scheduler.clock())
        bound.timer = self.scheduler.timers.set(left, bound.end, inner, is_awaited=False)


def state_of(frame: Frame, node: PlanNode, *, is_paused: bool = False) -> NodeState:
    """Return the state of a node as users see it, in a run that may have paused.

    A loop, map or subflow in which nothing but open asks is left has paused.
    """
    state, opened = STATES[frame.states[node.index]], frame.opened.get(node.index)
    if state is NodeState.RUNNING and opened is not None:
        return NodeState.PAUSED if is_paused or _only_waits(opened.live.values()) else state
    return state


def _only_waits(frames: Iterable[Frame]) -> bool:
    """Return whether asks are open in scope instances, or inside them, and nothing else is running."""
    has_ask = False
    todo = [*frames]
    while todo:
        inner = todo.pop()
        for node in inner.plan.nodes:
            state = inner.states[node.index]
            if state == READY or (state == RUNNING and isinstance(node.action, Call)):
                return False
            has_ask = has_ask or state == PAUSED
        for opened in inner.opened.values():
            todo.extend(opened.live.values())
    return has_ask
