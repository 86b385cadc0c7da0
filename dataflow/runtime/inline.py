"""Inline firings: calls made one after the other, without a task or an await of their own, till one waits."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from dataflow.base.copies import separate, separate_all
from dataflow.core.states import READY, RUNNING
from dataflow.runtime.calling import CurrentFiring
from dataflow.runtime.isolation import MOST_BLOCKING, RETURNED, Driver, look, resumed
from dataflow.scheduler.reports import report_start

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Sequence
    from contextvars import Context

    from dataflow.runtime.worker import Worker
    from dataflow.scheduler.frames import FiringId, Frame

    Begin = Callable[[Worker, Frame, int], list[FiringId]]

__all__ = ["Inline", "following"]


class Inline:
    """Fires what takes no more than a call (`QuickCall`), each in a context of its own (S14.5)."""

    def __init__(self, context: Context, begin: Begin, ready: deque[FiringId]) -> None:
        self._context = context
        self._begin = begin  # what takes more: the worker has it then, or it is settled and made others ready
        self._ready = ready

    def fire(self, worker: Worker, firing: FiringId | None, until: float) -> FiringId | None:
        """Fire one call after the other, as long as none waits and the clock is not past `until`.

        Returns the next firing, where the time is over. One that has begun and waits, or takes more than a
        call, is the worker's `current`, and what it comes to is to be awaited.
        """
        scheduler, driver, ready = worker.scheduler, worker.driver, self._ready
        send, result_of, succeed = driver.turns.send, driver.result, scheduler.settling.succeed
        own_cancels, copy, reporter = worker.task.cancelling, self._context.copy, scheduler.reporter
        value: Any
        values: Any
        ended = perf_counter()
        while firing is not None and ended < until and not (scheduler.to_act or scheduler.has_more):
            frame, index = firing
            quick = frame.plan.quick[index]
            if quick is None or index in frame.odd or frame.states[index] != READY:
                newly = self._begin(worker, frame, index)
                if worker.current is not None:
                    return None
                firing = following(newly, ready)
                ended = perf_counter()
                continue
            frame.states[index] = RUNNING
            if reporter.is_listening:
                report_start(reporter, frame, index)
            current, context = CurrentFiring(worker, frame, index), copy()
            begun = perf_counter()
            try:
                if quick.take is not None:
                    values = quick.take(frame.values)
                    coroutine = quick.function(*(separate_all(values) if quick.is_shared else values))
                else:
                    value = frame.values[quick.slot]
                    coroutine = quick.function(separate(value) if quick.is_shared else value)
                value = values = None  # nothing is held that has ended (S8.5)
                signal = context.run(send, (current, coroutine))
            except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
                worker.driver = Driver()
                look(current, begun)
                worker.begin(current, _raises(error))
                return None
            ended = perf_counter()
            if ended - begun > MOST_BLOCKING:
                current.blocked(ended - begun)
            if signal is not RETURNED:
                worker.begin(current, resumed(driver, context, signal, current), is_waiting=True)
                return None
            if own_cancels() or frame.is_closing:
                worker.begin(current, _returns(result_of()))
                return None
            newly = succeed(frame, index, result_of())
            if newly:
                firing = newly[0]
                if len(newly) > 1:
                    ready.extend(newly[1:])
            else:
                firing = ready.popleft() if ready else None
        return firing


def following(newly: Sequence[FiringId], ready: deque[FiringId]) -> FiringId | None:
    """Return what fires next: the first of what was just made ready, else who has waited longest (S14.2)."""
    if newly:
        if len(newly) > 1:
            ready.extend(newly[1:])
        return newly[0]
    return ready.popleft() if ready else None


async def _raises(error: BaseException) -> Any:
    try:
        raise error
    finally:
        del error  # else its traceback would refer to itself, and hold what the node was given (S8.5)


async def _returns(result: Any) -> Any:
    return result
