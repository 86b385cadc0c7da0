"""Repeating: a node that failed waits and is attempted again, as its settings say (S9.1)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from dataflow.base.failure import failure_of
from dataflow.core.attempts import wait_before_next
from dataflow.core.events import EventKind
from dataflow.core.states import READY

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataflow.compiler.plan import PlanNode
    from dataflow.core.attempts import Bounds
    from dataflow.scheduler.frames import Attempts, Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Repeating"]

Step: TypeAlias = "Callable[[], None]"


class Repeating:
    """The part of the scheduler that decides about another attempt."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def attempt_again(
        self, frame: Frame, node: PlanNode, bounds: Bounds | None, error: BaseException, again: Step
    ) -> bool:
        """Have `again` begin another attempt at a node, after a wait; tells whether it will.

        While it waits the node is ready: it has no slot and no worker, and closing its frame cancels it.
        """
        wait = None if frame.has_stopped(node.index) else self.wait_after(frame, node, bounds, error)
        if wait is None or bounds is None:
            return False
        attempts = frame.attempts[node.index]
        failure = failure_of(error, node.id, frame.path_of(node), attempts.number)
        self.scheduler.report(
            EventKind.ATTEMPT_FAILED, frame, node, attempt=attempts.number, error=failure, delay=wait
        )
        self.void_pieces(frame, node)
        attempts.number += 1
        frame.states[node.index] = READY
        if bounds.deadline is not None and attempts.ends is None:
            self._bound(frame, node, bounds, attempts)
        if wait:
            until = self.scheduler.reporter.now() + timedelta(seconds=wait)
            self.scheduler.report(EventKind.TIMER_SET, frame, node, until=until)
            attempts.waits = self.scheduler.timers.set(wait, again, frame)
        else:
            again()
        return True

    def wait_after(
        self, frame: Frame, node: PlanNode, bounds: Bounds | None, error: BaseException
    ) -> float | None:
        """Tell how long to wait before another attempt, None if none follows."""
        attempts = frame.attempts.get(node.index)
        if attempts is None or bounds is None or attempts.is_last:
            return None
        wait = wait_before_next(bounds.retry, attempts.number - attempts.earlier, error)
        if wait is not None and bounds.deadline is not None:
            assert attempts.begun is not None, "an attempt that failed has begun"
            if self.scheduler.clock() + wait >= attempts.begun + bounds.deadline:
                return None
        return wait

    def _bound(self, frame: Frame, node: PlanNode, bounds: Bounds, attempts: Attempts) -> None:
        """Have a node fail that waits, for a slot or its next attempt, when the time of all is over."""
        begun, clock = attempts.begun, self.scheduler.clock
        assert begun is not None, "an attempt that failed has begun"
        assert bounds.deadline is not None, "there is a time to be over"

        def end() -> None:
            if frame.states[node.index] == READY:
                self.give_up(frame, node)
                self.scheduler.failing.failed(frame, node, bounds.timed_out(node.id, begun, clock()))

        attempts.ends = self.scheduler.timers.set(
            begun + bounds.deadline - clock(), end, frame, is_awaited=False
        )

    def give_up(self, frame: Frame, node: PlanNode) -> None:
        """Let the next attempt at a node be, if it waits for one."""
        attempts = frame.attempts.get(node.index)
        if attempts is not None and attempts.waits is not None:
            self.scheduler.timers.drop(attempts.waits)

    def void_pieces(self, frame: Frame, node: PlanNode) -> None:
        """Tell that the pieces of a failed attempt do not count (S3.5)."""
        attempts = frame.attempts.get(node.index)
        if attempts is not None and attempts.has_pieces:
            attempts.has_pieces = False
            self.scheduler.report(EventKind.PIECES_VOID, frame, node)
