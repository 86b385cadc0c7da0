"""Settling: what becomes of a firing that returned, raised or was cancelled (S3.2, S9)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dataflow.errors import ValueRefused
from dataflow.hits import Hit
from dataflow.outcome import outputs_of
from dataflow.plan import Call
from dataflow.ports import SKIP
from dataflow.reporting import report_value
from dataflow.signature import Shape
from dataflow.states import CANCELLED, DONE

if TYPE_CHECKING:
    from dataflow.frames import FiringId, Frame
    from dataflow.scheduler import Scheduler

__all__ = ["Settling"]


class Settling:
    """The part of the scheduler that takes the outcomes of firings; each gives what became ready."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def succeed(self, frame: Frame, index: int, result: Any) -> list[FiringId]:
        """Settle a firing that returned (S3.2).

        Where nobody but calls of its frame, or a map, hears of the value, it takes no work list: most firings
        come to that.
        """
        scheduler, quick = self.scheduler, frame.plan.quick[index]
        if quick is None or quick.out is None or result is SKIP or not scheduler.is_plain:
            return self._succeed(frame, index, result)
        if frame.odd or frame.is_closing:
            return self._succeed(frame, index, result)
        if frame.unsettled == 1 or quick.calls is None:
            is_item = frame.unsettled == 1 and quick.is_collected and not frame.failures
            if is_item and not scheduler.has_work and not scheduler.reporter.is_listening:
                return self._end_item(frame, index, quick.out, result)
            return self._succeed(frame, index, result)
        frame.values[quick.out] = result
        frame.states[index] = DONE
        frame.unsettled -= 1
        if scheduler.reporter.is_listening:
            report_value(scheduler.reporter, frame, frame.plan.nodes[index], result)
        newly = frame.count_down(quick.calls)
        if scheduler.admission is None:
            return newly
        scheduler.admission.ended((frame, index))
        if scheduler.memoizing is not None:
            return scheduler.memoizing.admit(newly, scheduler.admission)
        return scheduler.admission.admit(newly)

    def _end_item(self, item: Frame, index: int, slot: int, value: Any) -> list[FiringId]:
        """End the item of a map with the value of its last node."""
        scheduler = self.scheduler
        scheduler.begin_step(item, index)
        scheduler.maps.end_with(item, index, slot, value)
        if scheduler.has_work:
            return scheduler.advance()
        scheduler.is_working = False
        return [] if scheduler.admission is None else scheduler.admission.admit(())

    def _succeed(self, frame: Frame, index: int, result: Any) -> list[FiringId]:
        if index in frame.withdrawn:
            return self.cancelled(frame, index)
        if type(result) is Hit:
            return self.remembered(frame, index, result)
        scheduler = self.scheduler
        scheduler.begin_step(frame, index)
        node, quick = frame.plan.nodes[index], frame.plan.quick[index]
        is_written = scheduler.recording is not None
        if quick is not None and quick.out is not None and result is not SKIP and not is_written:
            scheduler.put(frame, quick.out, result)
            scheduler.finish(frame, node, DONE)
            return scheduler.advance()
        call = node.action
        assert isinstance(call, Call), "only calls are fired by the engine"
        try:
            if call.type.shape is Shape.RAW and result.status == "paused":
                scheduler.asking.pause(frame, node, call, result)
                return scheduler.advance()
            outputs = outputs_of(node.id, call.type, result)
            if scheduler.recording is not None:
                scheduler.recording.prepare(node.id, outputs)
        except Exception as error:  # noqa: BLE001 - NodeFailed, or what reading the user's object raises
            return self.fail(frame, index, error)
        scheduler.releasing.succeeded(frame, node, call, outputs)
        return scheduler.advance()

    def remembered(self, frame: Frame, index: int, hit: Hit) -> list[FiringId]:
        """Settle a firing whose outcome is known, so that it is not called (S13.1)."""
        scheduler = self.scheduler
        scheduler.begin_step(frame, index)
        node = frame.plan.nodes[index]
        call = node.action
        assert isinstance(call, Call), "only calls have a memo"
        assert scheduler.memoizing is not None, "it has given the outcome"
        if scheduler.recording is not None and hit.written is None:
            try:
                scheduler.recording.prepare(node.id, hit.outcome.outputs)
            except ValueRefused as error:  # what another run could keep, this one cannot
                return self.fail(frame, index, error)
        outputs = scheduler.memoizing.hit(frame, node, hit)
        if scheduler.recording is not None and hit.written is not None:
            scheduler.recording.take_over(hit.written)
        scheduler.releasing.succeeded(frame, node, call, outputs)
        return scheduler.advance()

    def fail(self, frame: Frame, index: int, error: BaseException) -> list[FiringId]:
        """Settle a firing that raised, or attempt it again (S9.1, S9.3)."""
        scheduler = self.scheduler
        if index in frame.withdrawn:
            scheduler.failing.note_interruption(error)
            return self.cancelled(frame, index)
        scheduler.begin_step(frame, index)
        node = frame.plan.nodes[index]
        action = node.action
        assert isinstance(action, Call), "only calls are fired by the engine"
        again = partial(scheduler.make_ready, frame, index)
        if not scheduler.repeating.attempt_again(frame, node, action.bounds, error, again):
            scheduler.failing.failed(frame, node, error)
        return scheduler.advance()

    def cancelled(self, frame: Frame, index: int) -> list[FiringId]:
        """Settle a firing that was cancelled, since its frame was closed or it lost a race."""
        scheduler = self.scheduler
        scheduler.begin_step(frame, index)
        if frame.closed_by is not None:
            frame.note_reason(index, frame.closed_by)
        scheduler.finish(frame, frame.plan.nodes[index], CANCELLED)
        return scheduler.advance()

    def passed_over(self, frame: Frame, index: int) -> list[FiringId]:
        """Let go of a firing whose frame was closed before it could start; returns what may start instead."""
        scheduler = self.scheduler
        if scheduler.admission is None:
            return []
        scheduler.admission.ended((frame, index), has_begun=False)
        return scheduler.advance()
