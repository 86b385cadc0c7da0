"""Standing: the time of a flow node does not run while everything in it waits for answers (S7.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dataflow.compiler.plan import Call
from dataflow.core.states import PAUSED, READY, RUNNING

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataflow.scheduler.frames import Frame, OpenedFlow
    from dataflow.scheduler.scheduler import Scheduler
    from dataflow.scheduler.timers import Timer

__all__ = ["Standing"]


@dataclass(slots=True, eq=False)
class _Bound:
    """An attempt at a flow node whose time is bounded."""

    opened: OpenedFlow
    end: Callable[[], None]
    timer: Timer | None  # None while its time stands still
    since: float = 0.0  # when it began to stand still


class Standing:
    """The part of the scheduler that stops the time of attempts at flow nodes."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.bounds: dict[Frame, _Bound] = {}  # by the frame of the attempt

    def bound(self, inner: Frame, opened: OpenedFlow, end: Callable[[], None]) -> None:
        """Have `end` called at `opened.until`, or later by as long as all in the frame waits for answers."""
        self.scheduler.is_plain = False  # whatever ends in it may leave nothing but asks
        left = opened.until - self.scheduler.clock()
        timer = self.scheduler.timers.set(left, end, inner, is_awaited=False)
        self.bounds[inner] = _Bound(opened, end, timer)

    def times(self) -> dict[str, list[float]]:
        """Tell how many seconds each flow node has left of its attempt, and has spent on all, by its path."""
        told = {}
        for inner, bound in self.bounds.items():
            outer = inner.parent
            assert outer is not None, "the frame of a flow node is inside a frame"
            now = bound.since if bound.timer is None else self.scheduler.clock()
            begun = outer.attempts_at(inner.owner).begun
            spent = 0.0 if begun is None else now - begun
            told[outer.path_of(outer.plan.nodes[inner.owner])] = [bound.opened.until - now, spent]
        return told

    def forget(self, inner: Frame) -> None:
        """Bound an attempt no longer, which has ended."""
        self.bounds.pop(inner, None)

    def look(self) -> None:
        """Stop the time of those that only wait for answers, and let that of the others go on."""
        for inner, bound in self.bounds.items():
            is_waiting = bool(self.scheduler.asking.open) and _only_waits(inner)
            if is_waiting and bound.timer is not None:
                self.scheduler.timers.drop(bound.timer)
                bound.timer, bound.since = None, self.scheduler.clock()
            elif not is_waiting and bound.timer is None:
                self._go_on(inner, bound)

    def _go_on(self, inner: Frame, bound: _Bound) -> None:
        """Let the time go on: nothing of the wait counts, for the attempt and for all of them."""
        assert inner.parent is not None, "the frame of a flow node is inside a frame"
        waited = self.scheduler.clock() - bound.since
        bound.opened.until += waited
        attempts = inner.parent.attempts_at(inner.owner)
        if attempts.begun is not None:
            attempts.begun += waited
        left = max(0.0, bound.opened.until - self.scheduler.clock())
        bound.timer = self.scheduler.timers.set(left, bound.end, inner, is_awaited=False)


def _only_waits(frame: Frame) -> bool:
    """Tell whether asks are open in a frame, or inside it, and nothing else goes on there."""
    has_ask = False
    todo = [frame]
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
