"""Settle the outcomes of firings: returned, raised, cancelled or cached (S3.2, S9)."""

from __future__ import annotations

from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from dataflow.base.copies import own_copy
from dataflow.compiler.plan import Call
from dataflow.core.ports import SKIP
from dataflow.core.signature import Shape
from dataflow.core.states import CANCELLED, DONE
from dataflow.errors import ValueRefused
from dataflow.scheduler.arguments import check_outputs, note_secrets_in, outputs_in, outputs_of
from dataflow.scheduler.firing_rule import tokens_of
from dataflow.scheduler.hits import Hit
from dataflow.scheduler.reports import report_value

if TYPE_CHECKING:
    from dataflow.compiler.plan import PlanNode, ScopePlan
    from dataflow.scheduler.frames import FiringId, Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Settling"]


class Settling:
    """The part of the scheduler that settles outcomes; each method returns the firings that became ready."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def returned(self, frame: Frame, index: int, result: Any) -> list[FiringId]:
        """Settle a firing that has returned, or has a cached outcome."""
        settle = self._succeed if type(result) is Hit else self.succeed
        return settle(frame, index, result)

    def succeed(self, frame: Frame, index: int, result: Any) -> list[FiringId]:
        """Settle a firing that returned (S3.2).

        If only calls of its scope instance, or a map, read the value, the work list is not needed; this is
        the most frequent case.
        """
        scheduler, end = self.scheduler, frame.plan.ends[index]
        if end is None or result is SKIP or not scheduler.is_plain or type(result) in scheduler.unusual:
            return self._succeed(frame, index, result)
        if frame.dead_inputs or frame.is_closing:
            return self._succeed(frame, index, result)
        if frame.unsettled == 1 or end.calls is None:
            is_item = frame.unsettled == 1 and end.is_collected and not frame.failures
            if is_item and not (scheduler.has_more or scheduler.reporter.is_listening):
                return self._end_item(frame, index, end.out, result)
            return self._succeed(frame, index, result)
        frame.values[end.out] = result
        frame.states[index] = DONE
        frame.unsettled -= 1
        if scheduler.reporter.is_listening:
            report_value(scheduler.reporter, frame, frame.plan.nodes[index], result)
        newly = frame.count_down(end.calls)
        if scheduler.admission is None:
            return newly
        scheduler.admission.ended((frame, index))
        if scheduler.memos is not None:
            return scheduler.memos.admit(newly, scheduler.admission)
        return scheduler.admission.admit(newly)

    def _end_item(self, item: Frame, index: int, slot: int, value: Any) -> list[FiringId]:
        """End the item of a map with the value of its last node."""
        scheduler = self.scheduler
        scheduler.begin_step(item, index)
        if scheduler.maps.end_with(item, index, slot, value):
            return scheduler.advance()
        scheduler.is_working = False
        return [] if scheduler.admission is None else scheduler.admission.admit(())

    def _succeed(self, frame: Frame, index: int, result: Any) -> list[FiringId]:
        scheduler = self.scheduler
        if (fault := self._fault_of(frame.plan.nodes[index], result)) is not None:
            return self.fail(frame, index, fault)
        if scheduler.live is not None:
            newly = scheduler.live.succeed(frame, index, result)
            if newly is not None:
                return newly
            if self._is_superseded(frame, index):
                return self.superseded(frame, index, result)
        if index in frame.withdrawn:
            return self.cancelled(frame, index)
        if type(result) is Hit:
            return self.remembered(frame, index, result)
        scheduler.begin_step(frame, index)
        node, end = frame.plan.nodes[index], frame.plan.ends[index]
        is_written = scheduler.journal_writer is not None
        if (
            end is not None
            and result is not SKIP
            and not is_written
            and type(result) not in scheduler.unusual
        ):
            scheduler.put(frame, end.out, result)
            scheduler.finish(frame, node, DONE)
            return scheduler.advance()
        call = node.action
        assert isinstance(call, Call), "only calls are fired by the engine"
        try:
            if call.type.shape is Shape.RAW and result.status == "paused":
                scheduler.asking.pause(frame, node, call, result)
                return scheduler.advance()
            outputs = outputs_of(node.id, call.type, result)
            note_secrets_in(node, call, outputs, scheduler.unusual)
            if scheduler.live is not None:
                outputs = scheduler.live.cut_off(frame, node, outputs)
            if scheduler.journal_writer is not None:
                scheduler.journal_writer.prepare(node.id, outputs)
        except Exception as error:  # noqa: BLE001 - NodeFailed, or what reading the user's object raises
            return self.fail(frame, index, error)
        scheduler.releasing.succeeded(frame, node, call, outputs)
        return scheduler.advance()

    def _fault_of(self, node: PlanNode, result: Any) -> Exception | None:
        """Return why a result does not fit the ports of its node; None where it does or is not checked."""
        if not (self.scheduler.checks_values or type(result) is CoroutineType):
            return None
        try:
            check_outputs(node, result.outcome.outputs if type(result) is Hit else outputs_in(node, result))
        except Exception as error:  # noqa: BLE001 - NodeFailed, or what reading the user's object raises
            return error
        return None

    def superseded(self, frame: Frame, index: int, result: Any) -> list[FiringId]:
        """Settle a firing of a live session that has returned, but was superseded.

        Its outcome is reused if it gets the same inputs again, so that no effect runs twice for them (S13.4).
        """
        node, live = frame.plan.nodes[index], self.scheduler.live
        call = node.action
        assert isinstance(call, Call), "only calls are fired by the engine"
        assert live is not None, "only in a live session firings are superseded"
        has_paused = call.type.shape is Shape.RAW and getattr(result, "status", "") == "paused"
        if not has_paused and type(result) is not Hit:
            try:
                outputs = outputs_of(node.id, call.type, result)
            except Exception as error:  # noqa: BLE001 - as above
                return self.fail(frame, index, error)
            live.superseded(frame, node, dict(tokens_of(frame, node, call, outputs)))
        return self.cancelled(frame, index)

    def remembered(self, frame: Frame, index: int, hit: Hit) -> list[FiringId]:
        """Settle a firing with a cached outcome instead of calling it (S13.1)."""
        scheduler, plan = self.scheduler, frame.plan
        node = plan.nodes[index]
        if hit.outcome.begun:
            hit = hit.begun_at(f"{scheduler.reporter.run}/{frame.path_of(node)}")
        outputs = hit.outcome.outputs
        assert scheduler.memos is not None, "it has given the outcome"
        if scheduler.is_plain and plan.ends[index] is not None:
            scheduler.memos.report_hit(frame, node, hit)
            return self.succeed(frame, index, _own(plan, node, "out", outputs.get("out", SKIP)))
        scheduler.begin_step(frame, index)
        call = node.action
        assert isinstance(call, Call), "only calls have a memo"
        if scheduler.journal_writer is not None and hit.written is None:
            try:
                scheduler.journal_writer.prepare(node.id, outputs)
            except ValueRefused as error:  # another run could keep it, this one cannot
                return self.fail(frame, index, error)
        scheduler.memos.report_hit(frame, node, hit)
        if scheduler.journal_writer is not None and hit.written is not None:
            scheduler.journal_writer.take_over(hit.written)
        if scheduler.live is not None:
            scheduler.live.called -= 1
        own = {port: _own(plan, node, port, value) for port, value in outputs.items()}
        scheduler.releasing.succeeded(frame, node, call, own)
        return scheduler.advance()

    def fail(self, frame: Frame, index: int, error: BaseException) -> list[FiringId]:
        """Settle a firing that raised, or attempt it again (S9.1, S9.3)."""
        scheduler = self.scheduler
        node = frame.plan.nodes[index]
        action = node.action
        assert isinstance(action, Call), "only calls are fired by the engine"
        if self._is_superseded(frame, index):
            assert scheduler.live is not None, "only in a live session firings are superseded"
            if scheduler.repeating.wait_after(frame, node, action.bounds, error) is None:
                scheduler.live.superseded(frame, node, {}, error)
        if index in frame.withdrawn or self._is_superseded(frame, index):
            scheduler.failing.note_interruption(error)
            return self.cancelled(frame, index)
        scheduler.begin_step(frame, index)
        again = partial(scheduler.make_ready, frame, index)
        if not scheduler.repeating.attempt_again(frame, node, action.bounds, error, again):
            scheduler.failing.failed(frame, node, error)
        return scheduler.advance()

    def cancelled(self, frame: Frame, index: int) -> list[FiringId]:
        """Settle a firing that was cancelled: its scope instance was closed, or it lost a race."""
        scheduler = self.scheduler
        scheduler.begin_step(frame, index)
        if frame.closed_by is not None:
            frame.note_reason(index, frame.closed_by)
        scheduler.finish(frame, frame.plan.nodes[index], CANCELLED)
        return scheduler.advance()

    def _is_superseded(self, frame: Frame, index: int) -> bool:
        """Return whether nothing in a live session waits any more for the outcome of a firing."""
        live = self.scheduler.live
        return live is not None and (frame.has_stopped(index) or live.is_superseded(frame, index))

    def is_superseded(self, frame: Frame, index: int) -> bool:
        """Return whether an update of a live session has invalidated a firing that has not ended (S13.4)."""
        live = self.scheduler.live
        return live is not None and live.is_superseded(frame, index)

    def passed_over(self, frame: Frame, index: int) -> list[FiringId]:
        """Drop a firing that must not start any more; return the firings that may start instead.

        Its scope instance was closed after it became ready, or an update of a live session has superseded it.
        """
        scheduler, live = self.scheduler, self.scheduler.live
        if scheduler.admission is not None:
            scheduler.admission.ended((frame, index), has_begun=False)
        if live is not None:
            return scheduler.take_step(partial(live.passed_over, frame, index))
        return [] if scheduler.admission is None else scheduler.advance()


def _own(plan: ScopePlan, node: PlanNode, port: str, value: Any) -> Any:
    """Return a cached value for one port; the readers of a shared slot get copies anyway."""
    slot = node.outputs.get(port)
    return value if slot is None or plan.shared[slot] else own_copy(value)
