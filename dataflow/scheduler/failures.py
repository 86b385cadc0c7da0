"""Handle failures: fallbacks, retries, and the closing of scopes."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from dataflow.base.copies import own_copy
from dataflow.base.failure import error_line, failure_of, is_interruption
from dataflow.compiler.plan import FlowOf, MapOf
from dataflow.core.attempts import wait_before_next
from dataflow.core.events import EventKind
from dataflow.core.ports import DONE, ERROR, MISSING, Signal
from dataflow.core.states import (
    CANCELLED,
    FAILED,
    NOT_RUN,
    PAUSED,
    READY,
    RUNNING,
    TIMED_OUT,
    UNSETTLED,
    WAITING,
    Errored,
    Skip,
)
from dataflow.diagnostics.runs import FAILED_EARLIER
from dataflow.errors import NodeFailed, NodeTimeout
from dataflow.scheduler.frames import Unhandled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dataflow.base.failure import Failure
    from dataflow.compiler.plan import PlanNode
    from dataflow.core.attempts import Bounds
    from dataflow.scheduler.frames import Frame, RetryState
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Failing", "Repeating", "handles_failures", "tolerates_failures"]

Step: TypeAlias = "Callable[[], None]"


class Failing:
    """The part of the scheduler that handles failures and closes scope instances."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.frames: deque[tuple[Frame, Errored]] = deque()  # failed, to be closed

    def failed(self, frame: Frame, node: PlanNode, error: BaseException) -> None:
        """Handle the failure of a node by its settings, or fail its scope instance (S9.3)."""
        if self.scheduler.live is not None:
            self.scheduler.live.failed(frame, node.index, error)
        failure = self._failure(frame, node, error)
        state = TIMED_OUT if isinstance(error, NodeTimeout) else FAILED
        self.scheduler.repeating.void_pieces(frame, node)
        unhandled = [Unhandled(node.index, failure, error)]
        if not self._handle(frame, node, unhandled, state):
            self._break(frame, node, unhandled, state)

    def opener_failed(self, frame: Frame, node: PlanNode, unhandled: Sequence[Unhandled]) -> None:
        """Treat unhandled failures in scope instances as failures of their loop or map (S9.4)."""
        if not self._handle(frame, node, unhandled, FAILED):
            self._break(frame, node, unhandled, FAILED)

    def is_handled(self, node: PlanNode, failure: Failure) -> bool:
        """Return whether a failure of a node does not fail its scope instance."""
        return _handled(node, failure) is not None or node.failure_is_taken

    def stands(self, frame: Frame, node: PlanNode, failure: Failure) -> bool:
        """Return whether a failure of a node fails nothing around it: a resumed run keeps it (S11.3)."""
        opener = None if frame.parent is None else frame.parent.plan.nodes[frame.owner]
        return self.is_handled(node, failure) or tolerates_failures(opener)

    def restored(self, frame: Frame, node: PlanNode, failure: Failure, state: int) -> None:
        """Settle a node with its failure from an earlier execution session (S11.3)."""
        error = NodeFailed(node.id, FAILED_EARLIER(failure=error_line(failure)))
        unhandled = [Unhandled(node.index, failure, error)]
        if not self._handle(frame, node, unhandled, state):
            self._break(frame, node, unhandled, state)

    def test_failed(self, frame: Frame, node: PlanNode, body: Frame, error: BaseException) -> None:
        """Fail the iteration whose test raised; the loop fails with it (S6.1)."""
        failure = self._failure(frame, node, error)
        body.note_failures([Unhandled(len(body.plan.nodes), failure, error)])
        self._close_later(body, Errored(failure.path, failure))

    def run_timed_out(self) -> None:
        """Fail a run that has exceeded its timeout: waiting nodes do not run, running ones are cancelled."""
        name, seconds = self.scheduler.plan.name, self.scheduler.settings.timeout
        assert seconds is not None, "the time of the run is bounded"
        error, root = NodeTimeout(name, seconds, what="flow"), self.scheduler.root
        failure = failure_of(error, "", "", 1)
        root.note_failures([Unhandled(len(root.plan.nodes), failure, error)])
        self.close(root, Errored("", failure))

    def race_lost(
        self, frame: Frame, node: PlanNode, causes: Sequence[Errored], unhandled: Sequence[Unhandled]
    ) -> None:
        """Settle a race without a winner; failures left to it now fail the scope instance (S9.4)."""
        first, *besides = causes
        cause = Errored(frame.path_of(node), first.failure, first, tuple(besides))
        frame.note_reason(node.index, cause)
        self.scheduler.put(frame, node.outputs["out"], cause)
        self.scheduler.finish(frame, node, NOT_RUN)
        if node.failure_is_taken:
            self._leave_to_races(frame, node, unhandled)
        elif unhandled:
            frame.note_failures(replace(one, index=node.index) for one in unhandled)
            self._close_later(frame, cause)

    def _leave_to_races(self, frame: Frame, node: PlanNode, unhandled: Sequence[Unhandled]) -> None:
        """Keep a failure, with its exception, for a race that may be lost in the end."""
        if frame.plan.uses is not None:
            frame.taken[node.index] = unhandled

    def _handle(self, frame: Frame, node: PlanNode, unhandled: Sequence[Unhandled], state: int) -> bool:
        """Settle the ports of a failed node if its failure is handled; return whether it is."""
        failure = unhandled[0].failure
        cause = Errored(frame.path_of(node), failure)
        frame.note_reason(node.index, cause)
        handled = _handled(node, failure)
        if frame.is_closing:  # ports no longer settle, but a handled failure does not fail the scope instance
            is_handled = handled is not None or node.failure_is_taken
            if is_handled:
                self.scheduler.finish(frame, node, state)
            return is_handled
        left: Skip | Errored = Skip(frame.path_of(node), "failed, and the failure is handled", cause)
        if handled is None and node.failure_is_taken:
            handled, left = {}, cause  # the ports hold the error itself, for readers that take it
            self._leave_to_races(frame, node, unhandled)
        if handled is None:
            return False
        for port, slot in node.outputs.items():
            if frame.values[slot] is UNSETTLED:
                self.scheduler.put(frame, slot, handled.get(port, left))
        self.scheduler.finish(frame, node, state)
        return True

    def _break(self, frame: Frame, node: PlanNode, unhandled: Sequence[Unhandled], state: int) -> None:
        """Fail the scope instance of a node whose failure is unhandled (S9.4)."""
        cause = Errored(frame.path_of(node), unhandled[0].failure)
        frame.note_failures(replace(one, index=node.index) for one in unhandled)
        if not frame.is_closing:
            for slot in node.outputs.values():
                if frame.values[slot] is UNSETTLED:
                    self.scheduler.put(frame, slot, cause)
        self.scheduler.finish(frame, node, state)
        self._close_later(frame, cause)

    def _failure(self, frame: Frame, node: PlanNode, error: BaseException) -> Failure:
        self.note_interruption(error)
        return failure_of(error, node.id, frame.path_of(node), frame.attempt_of(node.index))

    def note_interruption(self, error: BaseException) -> None:
        """Note an exception that interrupts the run: a BaseException other than a cancellation."""
        if is_interruption(error):
            self.scheduler.interruption = self.scheduler.interruption or error

    def fails_fast(self, frame: Frame) -> bool:
        """Return whether an unhandled failure closes a scope instance; not at the root of a live session."""
        is_root_of_session = frame.parent is None and self.scheduler.live is not None
        return frame.errors == "fail_fast" and not is_root_of_session

    def _close_later(self, frame: Frame, cause: Errored) -> None:
        if self.fails_fast(frame):
            self.frames.append((frame, cause))

    def close_beside(self, frame: Frame, cause: Errored) -> None:
        """Close a sibling of a failed scope instance, once its recorded outcomes have settled (S11.3)."""
        replay = self.scheduler.replay
        if replay is not None and replay.reported.is_replaying:
            self.frames.append((frame, cause))
        else:
            self.close(frame, cause)

    def close(self, frame: Frame, cause: Skip | Errored) -> None:
        """Stop a scope instance and all inside it: nothing more starts, running firings are cancelled."""
        todo = [frame]
        while todo:
            closing = todo.pop()
            if closing.is_closing:
                continue
            closing.is_closing = True
            closing.closed_by = cause
            self.scheduler.to_act = True
            self.scheduler.timers.drop_of(closing)
            for node in closing.plan.nodes:
                state = closing.states[node.index]
                if node.index in closing.undemanded:
                    continue
                if state == RUNNING:
                    self.scheduler.stopped.append((closing, node.index))
                if state == PAUSED:
                    closing.note_reason(node.index, cause)
                    self.scheduler.asking.close(closing, node, cause.reason)
                    self.scheduler.finish(closing, node, CANCELLED)
                if state in (WAITING, READY):  # ready nodes are cancelled, waiting ones never ran
                    closing.note_reason(node.index, cause)
                    self.scheduler.finish(closing, node, NOT_RUN if state == WAITING else CANCELLED)
            self.scheduler.opening.await_no_more(closing, tuple(closing.awaits))
            for index, opened in closing.opened.items():
                todo.extend(opened.live.values())
                self.scheduler.maps.arrivals.stop(closing, index)


def _handled(node: PlanNode, failure: Failure) -> Mapping[str, Any] | None:
    """Return the ports of a node with a handled failure, None if it is unhandled."""
    policy = node.policy
    if policy is not None and policy.default is not MISSING:
        return {"out": own_copy(policy.default), DONE: Signal(), ERROR: failure}
    is_handled = policy is not None and policy.on_error in ("skip", "route")
    return {ERROR: failure} if is_handled or ERROR in node.outputs else None


def handles_failures(node: PlanNode) -> bool:
    """Return whether a node's own settings or its readers handle all its failures."""
    policy = node.policy
    has_policy = policy is not None and (
        policy.default is not MISSING or policy.on_error in ("skip", "route")
    )
    return has_policy or ERROR in node.outputs or node.failure_is_taken


def tolerates_failures(opener: PlanNode | None) -> bool:
    """Return whether an unhandled failure in a scope instance does not fail the node that opened it."""
    match opener.action if opener is not None else None:
        case MapOf(options=options):
            return options.on_error != "fail"
        case FlowOf(policy=policy):
            return policy.errors == "collect"
        case _:
            return False


class Repeating:
    """The part of the scheduler that decides about retries."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def attempt_again(
        self, frame: Frame, node: PlanNode, bounds: Bounds | None, error: BaseException, again: Step
    ) -> bool:
        """Have `again` begin another attempt at a node, after a wait; return whether it will.

        While it waits the node is ready: it has no slot and no worker, and closing its scope instance cancels
        it.
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
        """Return the seconds to wait before another attempt, None if none follows."""
        attempts = frame.attempts.get(node.index)
        if attempts is None or bounds is None or attempts.is_last:
            return None
        wait = wait_before_next(bounds.retry, attempts.number - attempts.earlier, error)
        if wait is not None and bounds.deadline is not None:
            assert attempts.begun is not None, "an attempt that failed has begun"
            if self.scheduler.clock() + wait >= attempts.begun + bounds.deadline:
                return None
        return wait

    def _bound(self, frame: Frame, node: PlanNode, bounds: Bounds, attempts: RetryState) -> None:
        """Have a node that waits for a slot or its next attempt fail at its deadline."""
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
        """Drop the next attempt at a node, if it waits for one."""
        attempts = frame.attempts.get(node.index)
        if attempts is not None and attempts.waits is not None:
            self.scheduler.timers.drop(attempts.waits)

    def void_pieces(self, frame: Frame, node: PlanNode) -> None:
        """Report that the pieces of a failed attempt are void (S3.5)."""
        attempts = frame.attempts.get(node.index)
        if attempts is not None and attempts.has_pieces:
            attempts.has_pieces = False
            self.scheduler.report(EventKind.PIECES_VOID, frame, node)
