"""Run one attempt at a firing, within its timeout, and settle its outcome."""

from __future__ import annotations

import asyncio
import contextvars
from contextlib import nullcontext
from functools import partial
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import anyio
from anyio.lowlevel import checkpoint

from dataflow.base.backend import (
    cancellation_types,
    current_task,
    cut_short,
    forget_cancellation,
    leaf_of,
    on_asyncio,
    scope_type,
    split_cancellation,
    yield_once,
)
from dataflow.base.failure import is_interruption
from dataflow.base.logs import masked_logger
from dataflow.compiler.plan import Call
from dataflow.core.states import READY
from dataflow.diagnostics.runs import TASK_CANCELLED
from dataflow.errors import NodeFailed
from dataflow.runtime.call import Attempt, Driver, call
from dataflow.scheduler.hits import Hit
from dataflow.scheduler.reports import report_start

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from contextvars import Context

    from dataflow.core.attempts import Bounds
    from dataflow.errors import NodeTimeout
    from dataflow.runtime.shared import Shared
    from dataflow.scheduler.frames import FiringId, Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["NO_SHELTER", "AttemptRunner", "Worker"]

LOG: Final = masked_logger("dataflow.attempting")
#: On trio the scope inside that of the worker, which shields the clean-up of a firing that is cut short.
Shelter: TypeAlias = "anyio.CancelScope | nullcontext[None]"

#: Asyncio needs none: the task is cancelled, and its scope only after the grace.
NO_SHELTER: Final = nullcontext()


class AttemptRunner:
    """Runs attempts for the workers of a run; `suspended` is called when an attempt first waits."""

    def __init__(self, scheduler: Scheduler, suspended: Callable[[], None], shared: Shared) -> None:
        self.is_leaving = False  # the task that owns the run is being cancelled itself
        self._scheduler = scheduler
        self._shared = shared
        self.context = contextvars.copy_context()  # the context that every firing starts from
        # only these can be cancelled: all others end without waiting
        self.waiting: dict[FiringId, Attempt] = {}
        self._suspended = suspended
        self._cancellation = cancellation_types()
        self._new_scope, self._is_on_asyncio = scope_type(), on_asyncio()
        self._on_wait = self._has_suspended  # one bound method for all workers
        self._calling = _traced if scheduler.reporter.is_tracing else _calling

    def worker(self) -> Worker:
        """Create a worker in the current task."""
        if self._is_on_asyncio:
            return Worker(self._scheduler, self._on_wait, self._new_scope(), NO_SHELTER, self._shared)
        # of what cancels the owner the engine cuts its firings short, as on asyncio
        scope, shelter = anyio.CancelScope(shield=True), anyio.CancelScope()
        return Worker(self._scheduler, self._on_wait, scope, shelter, self._shared)

    def begin(self, worker: Worker, frame: Frame, index: int) -> list[FiringId]:
        """Begin a firing in a worker, or settle it immediately; return the firings that became ready."""
        memos, settling = self._scheduler.memos, self._scheduler.settling
        if memos is not None and memos.has_slots(frame, index):
            return []  # another worker runs it, and resumes now
        if frame.states[index] != READY or settling.is_superseded(frame, index):
            return settling.passed_over(frame, index)
        node = frame.plan.nodes[index]
        action = node.action
        assert isinstance(action, Call), "only calls become ready"
        lookup = None if memos is None else memos.seek(frame, node, action)
        if isinstance(lookup, Hit):
            return settling.remembered(frame, index, lookup)
        frame.begin(index)
        if action.bounds is not None:
            frame.attempts_at(index).is_last = True  # until the function is called
        current = Attempt.at(worker, frame, index, frame.attempt_of(index))
        calling = partial(self._calling, worker, current, action, self.context.copy())
        if lookup is None:
            worker.begin(current, _started(current, calling), perf_counter())
        else:
            has_returned = partial(self._has_simply_returned, worker, current)
            outcome = lookup.found_or_called(current, calling, has_returned)
            worker.begin(current, outcome, perf_counter())
        return []

    async def finish(self, worker: Worker, current: Attempt) -> list[FiringId]:
        """Await and settle the firing of a worker; return the firings that became ready."""
        outcome, worker.outcome = worker.outcome, None
        assert outcome is not None, "the firing has begun"
        try:
            if worker.is_waiting:
                current.suspends()
            result = await outcome
        except BaseException as error:  # noqa: BLE001 - a node is the user's code and may raise anything
            worker.driver = Driver()
            newly = await self._ended_by(worker, current, error)
        else:
            if self._has_simply_returned(worker, current):
                newly = self._scheduler.settling.returned(current.frame, current.index, result)
            else:
                await self._pass_on_cancellation(worker)
                newly = await self._returned(worker, current, result)
        if self._scheduler.interruption is not None:
            self.look_for_interruption()
        self._ended(worker, current)
        return newly

    async def _ended_by(self, worker: Worker, current: Attempt, error: BaseException) -> list[FiringId]:
        """Settle a firing that has raised; raise a cancellation of the worker itself."""
        if isinstance(error, self._cancellation):
            if self._is_cancelling(worker):
                raise error
            await self._has_cancelled_itself(worker)
            return self._cancelled_itself(worker, current)
        if isinstance(error, Exception):
            await self._pass_on_cancellation(worker)
            await self._has_cancelled_itself(worker)
            return self._raised(worker, current, error)
        cancelled, rest = split_cancellation(error, self._cancellation)
        if cancelled is not None and self._is_cancelling(worker):
            _keep_error(self._scheduler, current, rest)
            raise leaf_of(cancelled) from None
        await self._has_cancelled_itself(worker)
        return self._broke(worker, current, error)

    def _has_simply_returned(self, worker: Worker, current: Attempt) -> bool:
        """Return whether an attempt returned in time and without having been cancelled."""
        is_asked_to_end = worker.is_cut or self.is_leaving or worker.task.cancelling()
        return not (is_asked_to_end or worker.late is not None or current.frame.has_stopped(current.index))

    def _has_suspended(self, current: Attempt) -> None:
        current.worker.has_waited = True
        self.waiting[current.frame, current.index] = current
        if current.frame.has_stopped(current.index):  # by itself, before it waits
            current.worker.cut()
        admission = self._scheduler.admission
        if admission is not None and not current.is_seeking:
            admission.begun((current.frame, current.index))
        self._suspended()

    def _ended(self, worker: Worker, current: Attempt) -> None:
        current.frame.note_duration(current.index, current.attempt, perf_counter() - worker.begun)
        worker.current = None
        if worker.has_waited:
            del self.waiting[current.frame, current.index]

    def look_for_interruption(self) -> None:
        """Stop the whole run if a user's function has raised a BaseException that is not an Exception."""
        interruption = self._scheduler.interruption
        if interruption is not None:
            self._scheduler.abort(f"interrupted by {type(interruption).__name__}")

    def _is_cancelling(self, worker: Worker) -> bool:
        """Return whether the engine or the owner of the run has requested cancellation."""
        return worker.is_cut or self.is_leaving

    async def _pass_on_cancellation(self, worker: Worker) -> None:
        """Raise a cancellation from outside that a node has suppressed; trio delivers it again."""
        if worker.has_waited and not worker.is_cut and self._is_cancelling(worker):
            await checkpoint()

    async def _returned(self, worker: Worker, current: Attempt, result: Any) -> list[FiringId]:
        if await self._has_cancelled_itself(worker):
            return self._cancelled_itself(worker, current)
        if self._has_to_end(worker, current):  # it returned in spite of that
            if self._is_left_alone(worker):
                return self._scheduler.settling.superseded(current.frame, current.index, result)
            return self._cut_short(worker, current)
        return self._scheduler.settling.returned(current.frame, current.index, result)

    async def _has_cancelled_itself(self, worker: Worker) -> bool:
        """Remove cancel requests that a node has left in its task; return whether one of them arrived.

        Otherwise it would arrive in the next node. Up to Python 3.12 a task group with a failed child leaves
        a request that never arrives.
        """
        if not worker.task.cancelling() or self._is_cancelling(worker):
            return False
        try:
            await yield_once()
        except self._cancellation:
            if self._is_cancelling(worker):
                raise
            has_arrived = True
        else:
            has_arrived = False
        forget_cancellation()  # only now: from Python 3.13 on this removes requests that have yet to arrive
        return has_arrived

    def _raised(self, worker: Worker, current: Attempt, error: Exception) -> list[FiringId]:
        if self._has_to_end(worker, current) and not self._is_left_alone(worker):
            return self._cut_short(worker, current, error)
        return self._scheduler.settling.fail(current.frame, current.index, error)

    def _broke(self, worker: Worker, current: Attempt, error: BaseException) -> list[FiringId]:
        """Settle a firing that has raised another BaseException, such as one that interrupts the run."""
        if worker.late is not None and not is_interruption(error):
            return self._cut_short(worker, current)
        worker.late = None
        return self._scheduler.settling.fail(current.frame, current.index, error)

    def _is_left_alone(self, worker: Worker) -> bool:
        """Return whether a superseded firing of a live session has run to its end undisturbed."""
        return self._scheduler.live is not None and worker.late is None and not worker.is_cut

    def _has_to_end(self, worker: Worker, current: Attempt) -> bool:
        """Return whether an attempt that has ended was cancelled, stopped or late."""
        is_over = worker.is_cut or worker.late is not None
        return is_over or current.frame.has_stopped(current.index)

    def _cut_short(self, worker: Worker, current: Attempt, raised: Exception | None = None) -> list[FiringId]:
        """Settle a firing that was cancelled with its scope instance, or took too long (S9.2)."""
        late, worker.late = worker.late, None
        if late is None or current.frame.has_stopped(current.index):
            _keep_error(self._scheduler, current, raised)
            return self._scheduler.settling.cancelled(current.frame, current.index)
        late.__cause__ = raised
        return self._scheduler.settling.fail(current.frame, current.index, late)

    def _cancelled_itself(self, worker: Worker, current: Attempt) -> list[FiringId]:
        # in time it would have been cancelled before; or all tasks are being cancelled, its own first
        if worker.late is not None or self._has_to_end(worker, current):
            return self._cut_short(worker, current)
        frame, node = current.frame, current.frame.plan.nodes[current.index]
        error = NodeFailed(node.id, TASK_CANCELLED())
        frame.attempts_at(node.index).is_last = True  # a cancellation is not retried
        return self._scheduler.settling.fail(frame, node.index, error)

    def end_cancelled(self, worker: Worker) -> list[FiringId]:
        """Settle the firing that ended with the cancelled scope of its worker; return what became ready."""
        current = worker.current
        if current is None:
            return []
        newly = self._cut_short(worker, current)
        self._ended(worker, current)
        return newly


def _keep_error(scheduler: Scheduler, current: Attempt, error: BaseException | None) -> None:
    """Keep an exception raised during cancellation: it does not fail the node, but is not lost (S9.5)."""
    if isinstance(error, Exception):
        path = current.this_firing().path
        LOG.warning("node %s raised while it was being cancelled", path, exc_info=error)
    elif error is not None:
        scheduler.interruption = scheduler.interruption or error


def _started(current: Attempt, calling: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Report that a firing begins, and return its coroutine."""
    reporter = current.worker.scheduler.reporter
    if reporter.is_listening:
        report_start(reporter, current.frame, current.index)
    return calling()


def _calling(worker: Worker, current: Attempt, action: Call, context: Context) -> Coroutine[Any, Any, Any]:
    """Return the coroutine that calls the function of a firing, within its timeout."""
    calling, writer = call(current, action, context), worker.scheduler.journal_writer
    if action.policy.has_effect and writer is not None:
        calling = _once_committed(writer.journal.committed, current, calling)
    return calling if action.bounds is None else _in_time(worker, current, action.bounds, calling)


def _traced(worker: Worker, current: Attempt, action: Call, context: Context) -> Coroutine[Any, Any, Any]:
    """Return the coroutine that calls the function of a firing, and begin its span."""
    worker.scheduler.reporter.enter(current.frame, current.index, context)
    return _calling(worker, current, action, context)


async def _once_committed(
    committed: Callable[[], Awaitable[object]], current: Attempt, calling: Coroutine[Any, Any, Any]
) -> Any:
    """Await a call with an effect once everything it depends on is committed (S12.2)."""
    try:
        current.suspends()  # from here on others have their turn, and it can be cancelled
        await committed()
    except BaseException:
        calling.close()
        raise
    return await calling


async def _in_time(
    worker: Worker, current: Attempt, bounds: Bounds, calling: Coroutine[Any, Any, Any]
) -> Any:
    """Await an attempt within its timeout, at the end of which the worker is cancelled (S9.2)."""
    attempts, clock = current.frame.attempts[current.index], worker.scheduler.clock
    now = clock()
    begun = attempts.begun = now if attempts.begun is None else attempts.begun
    until = bounds.ends_by(begun, now)
    worker.end_in(until - now)
    try:
        return await calling
    finally:
        now = clock()
        if now >= until:  # it was cancelled, or suppressed that and returned late
            node = current.frame.plan.nodes[current.index]
            worker.late = bounds.timed_out(node.id, begun, now)
        worker.end_at_will()


class Worker:
    """A task that runs one firing after the other; it ends with the firing that it cuts short.

    The code of a firing that is cut short is cancelled once, and again, for good, when its clean-up has taken
    longer than `using(cleanup=)`.
    """

    __slots__ = (
        "_timer", "begun", "current", "driver", "has_waited", "is_cut", "is_timed", "is_waiting", "late",
        "outcome", "scheduler", "scope", "shared", "shelter", "suspends", "task",
    )  # fmt: skip

    def __init__(
        self,
        scheduler: Scheduler,
        suspends: Callable[[Attempt], None],
        scope: anyio.CancelScope,
        shelter: Shelter,
        shared: Shared,
    ) -> None:
        self.scheduler = scheduler
        self.suspends = suspends  # called with an attempt that waits for the first time
        self.current: Attempt | None = None
        self.outcome: Awaitable[Any] | None = None  # of the current firing, until it is awaited
        self.begun = 0.0  # when the current firing began
        self.is_waiting = False  # the current firing already waits for the event loop
        self.has_waited = False  # the attempt has waited
        self.is_timed = False  # a timeout may end the attempt
        self.is_cut = False  # the current firing was asked to end, and is the last
        self.late: NodeTimeout | None = None  # the attempt has ended, but not in time
        self.scope = scope
        self.shelter = shelter
        self.shared = shared  # the resources that firings share
        self.driver = Driver()  # of inline firings
        self.task = current_task()
        self._timer: asyncio.TimerHandle | None = None

    def begin(
        self, current: Attempt, outcome: Awaitable[Any], begun: float, *, is_waiting: bool = False
    ) -> None:
        """Take over a firing that has begun; its outcome is still to be awaited."""
        self.current, self.outcome, self.begun, self.is_waiting = current, outcome, begun, is_waiting

    def cut(self, *, is_asked: bool = False) -> None:
        """Cancel the current firing, once; with `is_asked` its task may have been cancelled already."""
        if not self.is_cut:
            self.is_cut = True
            cut_short(self.scope, self.task, self.scheduler.settings.cleanup, is_asked=is_asked)

    def end(self) -> None:
        """Cancel the current firing for good, and its clean-up too."""
        self.is_cut = True
        self.scope.cancel()
        if isinstance(self.shelter, anyio.CancelScope):
            self.shelter.cancel()

    def end_in(self, seconds: float) -> None:
        """Cut the current firing short after some seconds."""
        self.is_timed = True
        if isinstance(self.task, asyncio.Task):
            self._timer = self.task.get_loop().call_later(seconds, self.cut)
        else:
            self.scope.deadline = anyio.current_time() + seconds

    def end_at_will(self) -> None:
        """Forget the timeout of the current firing."""
        self.is_timed = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        elif not self.is_cut:
            self.is_cut, self.scope.deadline = self.scope.cancel_called, inf

    def take_shelter(self) -> None:
        """Shelter the clean-up of the current firing from its cancelled scope, once, for the grace."""
        shelter = self.shelter
        if isinstance(shelter, nullcontext) or shelter.shield:
            return
        self.is_cut, grace = True, self.scheduler.settings.cleanup
        if grace > 0:
            shelter.shield, shelter.deadline = True, anyio.current_time() + grace
