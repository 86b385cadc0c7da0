"""Worker tasks that fire ready nodes, and quick calls in a row without a task switch."""

from __future__ import annotations

from collections import deque
from contextvars import copy_context
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from anyio.lowlevel import checkpoint

from dataflow.base.backend import cancellation_types, yield_once
from dataflow.core.ports import SKIP
from dataflow.core.states import READY
from dataflow.runtime.attempts import AttemptRunner
from dataflow.runtime.call import MOST_BLOCKING, RETURNED, Attempt, Driver, look, resumed
from dataflow.runtime.shared import Shared
from dataflow.runtime.tasks import Sleepers
from dataflow.scheduler.reports import report_start, report_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextvars import Context

    from dataflow.base.backend import Cancellable
    from dataflow.runtime.attempts import Worker
    from dataflow.runtime.tasks import Spawn
    from dataflow.scheduler.frames import FiringId, Frame
    from dataflow.scheduler.scheduler import Scheduler
    from dataflow.scheduler.timers import Timer

    Fire = Callable[[Worker, FiringId | None, float], FiringId | None]
    Begin = Callable[[Worker, Frame, int], list[FiringId]]

__all__ = ["QuickCalls", "Workers", "following"]

#: How long, in seconds, a worker runs before it lets other tasks run.
SLICE: Final = 0.005


class Workers:
    """All workers of a run. `idle` is called when the last has ended and nothing is ready."""

    def __init__(self, scheduler: Scheduler, spawn: Spawn, idle: Callable[[], None]) -> None:
        self._scheduler = scheduler
        # an error that left a task of the engine, where nothing handles it
        self.broken: BaseException | None = None
        self._spawn = spawn
        self._idle = idle
        self._sleepers = Sleepers(spawn, self._due)
        self.shared = Shared(spawn, scheduler.warnings.append, scheduler.settings.cleanup)
        if scheduler.admission is not None:
            scheduler.admission.later = self._later
        self._attempting = AttemptRunner(scheduler, self._suspended, self.shared)
        self._ready: deque[FiringId] = deque()
        self._quick = QuickCalls(self._attempting.context, self._attempting.begin, self._ready)
        self._fire: Fire = self._quick.fire
        if scheduler.reporter.is_tracing:
            self._fire = _fire_none  # a span takes more than a call
        self._workers: set[Worker] = set()
        self.are_asked = False  # whoever cancelled the owner may have cancelled the workers' tasks too
        self._starting = 0
        self._cancellation = cancellation_types()

    def follow_caller(self) -> None:
        """Let firings from now on start from the context of the caller, not from that of the run."""
        self._attempting.context = self._quick.context = copy_context()

    def begin(self, first: Callable[[], Iterable[FiringId]]) -> None:
        """Spawn a worker that begins with the firings that `first` returns once the worker runs."""
        self._starting += 1
        self._spawn(partial(self._begin_with, first))

    async def _begin_with(self, first: Callable[[], Iterable[FiringId]]) -> None:
        if self._attempting.is_leaving:
            return
        try:
            self._ready.extend(first())
            self._attempting.look_for_interruption()
            if self._scheduler.to_act:
                self.act()
        except BaseException as error:
            self._break(error)
            raise
        await self._work()

    def _break(self, error: BaseException) -> None:
        """Note an error that leaves a task of the engine: waiting for the run is pointless then."""
        if not isinstance(error, self._cancellation):
            self.broken = self.broken or error

    async def _due(self, timer: Timer) -> None:
        """Continue as a worker with the firings that a timer makes ready."""
        self._starting += 1
        await self._begin_with(partial(self._scheduler.due, timer))

    def _later(self, step: Callable[[], None]) -> None:
        """Schedule a step of the scheduler, unless the run has ended; any thread may call it."""
        self._scheduler.reporter.later(partial(self._come_back, step))

    def _come_back(self, step: Callable[[], None]) -> None:
        if not self._scheduler.has_ended and not self._attempting.is_leaving:
            self.begin(partial(self._scheduler.take_step, step))

    def leave(self) -> None:
        """Note that the task that owns the run is being cancelled itself, and end what is left."""
        self._attempting.is_leaving = True
        for worker in self._workers:
            worker.end()

    @property
    def tasks(self) -> list[Cancellable]:
        """The tasks of the workers that have not ended."""
        return [worker.task for worker in self._workers]

    @property
    def are_idle(self) -> bool:
        if self._workers or self._starting:
            return False
        admission = self._scheduler.admission
        return not self._scheduler.timers.are_awaited and (admission is None or not admission.are_waiting)

    def running(self) -> list[FiringId]:
        """Return the firings that are running."""
        current = [worker.current for worker in self._workers if worker.current is not None]
        return [(firing.frame, firing.index) for firing in current]

    def act(self) -> None:
        """Cancel firings that were closed or withdrawn; start and end the tasks of timers."""
        self._scheduler.to_act = False
        asked, dropped = self._scheduler.timers.news()
        self._sleepers.start(asked)
        self._sleepers.stop(dropped)
        stopped, self._scheduler.stopped = self._scheduler.stopped, []
        for firing in stopped:
            if (current := self._attempting.waiting.get(firing)) is not None:
                current.worker.cut(is_asked=self.are_asked)

    async def _work(self) -> None:
        """Be a worker, from the first firing to the last."""
        self._starting -= 1
        if self._attempting.is_leaving:
            return
        worker = self._attempting.worker()
        self._workers.add(worker)
        try:
            try:
                with worker.scope, worker.shelter:
                    if worker.task.cancelling():
                        await yield_once()  # cancelled before it began
                    await self._fire_in_turn(worker)
            except self._cancellation:  # the scope handles only its own requests
                if self._is_over():
                    raise
            self._end(worker)
        except BaseException as error:
            self._break(error)
            raise

    def _is_over(self) -> bool:
        """Return whether the whole task group is being cancelled, with what is left in it."""
        return self._attempting.is_leaving or self.broken is not None

    def _end(self, worker: Worker) -> None:
        self._ready.extend(self._attempting.end_cancelled(worker))
        if self._scheduler.to_act:
            self.act()
        self._workers.discard(worker)
        if self._has_work:
            self._spawn_more(1)  # another worker takes over
        elif self.are_idle or self._scheduler.has_ended:
            self._idle()

    @property
    def _has_work(self) -> bool:
        return bool(self._ready) or self._scheduler.has_more or self._scheduler.has_items

    def _spawn_more(self, most: int) -> None:
        work = len(self._ready) + self._scheduler.has_more + self._scheduler.has_items
        for _ in range(min(most, work - self._starting)):
            self._starting += 1
            self._spawn(self._work)

    def _suspended(self) -> None:
        if self._has_work:
            self._spawn_more(2)

    async def _fire_in_turn(self, worker: Worker) -> None:
        ready, scheduler, attempting = self._ready, self._scheduler, self._attempting
        until = perf_counter() + SLICE
        firing = ready.popleft() if ready else None
        while (firing is not None or self._has_work) and not worker.is_cut:
            if scheduler.has_more:
                await self._others(firing)
                ready.extend(scheduler.advance())
            elif firing is None and not ready:
                ready.extend(scheduler.begin_items())
            stop = self._fire(worker, firing, until)
            if scheduler.to_act:
                self.act()
            newly = [] if stop is None else attempting.begin(worker, *stop)  # so each turn fires something
            if worker.current is not None:
                newly = await attempting.finish(worker, worker.current)
            firing = following(newly, ready)
            if scheduler.to_act:
                self.act()
            if worker.has_waited:  # other tasks have had their turn
                worker.has_waited, until = False, perf_counter() + SLICE
            elif perf_counter() > until and not worker.is_cut:
                firing = await self._give_way(firing)
                until = perf_counter() + SLICE
        if firing is not None:
            ready.appendleft(firing)

    async def _give_way(self, firing: FiringId | None) -> FiringId | None:
        """Let other tasks run; return the firing to run next.

        So a node that never waits does not starve other tasks, ready firings or items.
        """
        ready = self._ready
        await self._others(firing)
        if self._scheduler.has_items:
            ready.extend(self._scheduler.begin_items())
        if firing is not None and ready:
            ready.append(firing)
            return ready.popleft()
        return firing

    async def _others(self, firing: FiringId | None) -> None:
        """Let other tasks run; if the worker is cancelled meanwhile, another one takes the next firing."""
        try:
            await checkpoint()
        except self._cancellation:
            if firing is not None:
                self._ready.appendleft(firing)
            raise


def _fire_none(_worker: Worker, firing: FiringId | None, _until: float) -> FiringId | None:
    """Leave every firing to the attempts."""
    return firing


class QuickCalls:
    """Fires nodes that take no more than a call (`QuickCall`), each in its own context (S14.5)."""

    def __init__(self, context: Context, begin: Begin, ready: deque[FiringId]) -> None:
        self.context = context  # that every firing starts from
        self._begin = begin  # for all others: the worker runs it then, or it is settled
        self._ready = ready

    def fire(self, worker: Worker, firing: FiringId | None, until: float) -> FiringId | None:
        """Fire one call after the other, until one waits or the clock passes `until`.

        Return the next firing if the time is over. A firing that waits, or takes more than a call, becomes
        the worker's `current`, and its outcome is to be awaited.
        """
        scheduler, driver, ready = worker.scheduler, worker.driver, self._ready
        send, succeed = driver.turns.send, scheduler.settling.succeed
        own_cancels, copy, reporter = worker.task.cancelling, self.context.copy, scheduler.reporter
        is_quick, unusual = scheduler.is_plain and scheduler.admission is None, scheduler.unusual
        value: Any
        begun = perf_counter()  # of the step that comes next: settling the one before belongs to it
        while firing is not None and begun < until and not (scheduler.to_act or scheduler.has_more):
            frame, index = firing
            plan = frame.plan
            quick = plan.quick[index]
            if quick is None or index in frame.dead_inputs or frame.states[index] != READY:
                newly = self._begin(worker, frame, index)
                if worker.current is not None:
                    return None
                firing = following(newly, ready)
                begun = perf_counter()
                continue
            if reporter.is_listening:
                report_start(reporter, frame, index)
            current, context = Attempt(), copy()
            current.worker, current.frame, current.index = worker, frame, index
            current.attempt, current.is_seeking = 1, False
            try:
                signal = context.run(send, (current, frame.call(index, quick)))
            except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
                worker.driver = Driver()
                look(current, begun)
                worker.begin(current, _raises(error), begun)
                return None
            begun, since = perf_counter(), begun
            seconds = frame.durations[index] = begun - since
            if seconds > MOST_BLOCKING:
                current.blocked(seconds)
            if signal is not RETURNED:
                outcome = resumed(driver, context, signal, current)
                worker.begin(current, outcome, since, is_waiting=True)
                return None
            value, driver.result = driver.result, None
            if own_cancels() or frame.is_closing:
                worker.begin(current, _returns(value), since)
                return None
            end = plan.ends[index] if is_quick and frame.unsettled > 1 and not frame.dead_inputs else None
            has_value = value is not SKIP and type(value) not in unusual
            if end is not None and end.calls is not None and has_value:
                firing = frame.complete(index, end, value, ready)
                if reporter.is_listening:
                    report_value(reporter, frame, plan.nodes[index], value)
            else:
                firing = following(succeed(frame, index, value), ready)
            value = None  # no reference to ended firings is kept (S8.5)
        return firing


def following(newly: Sequence[FiringId], ready: deque[FiringId]) -> FiringId | None:
    """Return the firing to run next: the first that just became ready, else the oldest (S14.2)."""
    if newly:
        if len(newly) > 1:
            ready.extend(newly[1:])
        return newly[0]
    return ready.popleft() if ready else None


async def _raises(error: BaseException) -> Any:
    try:
        raise error
    finally:
        del error  # else its traceback would refer to itself, and keep the node's inputs (S8.5)


async def _returns(result: Any) -> Any:
    return result
