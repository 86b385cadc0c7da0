"""Workers: the tasks that fire what the scheduler says is ready (S14).

A worker fires one after the other, going on with the first that became ready, and awaits those that wait.
Only when a node really waits, and more is ready, do other workers start: at most two a suspension, so that
their number doubles.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anyio.lowlevel import checkpoint

from dataflow.base.backend import cancellation_types
from dataflow.runtime.attempting import Attempting
from dataflow.runtime.inline import Inline, following
from dataflow.runtime.shared import Shared
from dataflow.runtime.sleepers import Sleepers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataflow.runtime.sleepers import Spawn
    from dataflow.runtime.worker import Worker
    from dataflow.scheduler.frames import FiringId
    from dataflow.scheduler.scheduler import Scheduler
    from dataflow.scheduler.timers import Timer

    Fire = Callable[[Worker, FiringId | None, float], FiringId | None]

__all__ = ["Workers"]

#: How long, in seconds, a worker goes on before it lets the event loop do other things.
SLICE: Final = 0.005


class Workers:
    """All workers of a run. `idle` is called when the last has ended and nothing is ready."""

    def __init__(self, scheduler: Scheduler, spawn: Spawn, idle: Callable[[], None]) -> None:
        self._scheduler = scheduler
        self.broken: BaseException | None = None  # what has left a task of the engine: nobody handles it
        self._spawn = spawn
        self._idle = idle
        self._sleepers = Sleepers(spawn, self._due)
        self.shared = Shared(spawn, lambda text: scheduler.warnings.append(text))
        if scheduler.admission is not None:
            scheduler.admission.later = self._later
        self._attempting = Attempting(scheduler, self._suspended, self.shared)
        self._ready: deque[FiringId] = deque()
        self._fire: Fire = Inline(self._attempting.context, self._attempting.begin, self._ready).fire
        if scheduler.reporter.is_tracing:
            self._fire = _fire_none  # a span takes more than a call
        self._workers: set[Worker] = set()
        self._starting = 0
        self._cancellation = cancellation_types()

    def begin(self, first: Callable[[], Iterable[FiringId]]) -> None:
        """Spawn a worker that begins with what `first` gives once the worker runs."""
        self._starting += 1
        self._spawn(partial(self._begin_with, first))

    async def _begin_with(self, first: Callable[[], Iterable[FiringId]]) -> None:
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
        """Note what breaks out of a task of the engine: then nothing more can be waited for."""
        if not isinstance(error, self._cancellation):
            self.broken = self.broken or error

    async def _due(self, timer: Timer) -> None:
        """Go on as a worker with what a timer has made ready."""
        self._starting += 1
        await self._begin_with(partial(self._scheduler.due, timer))

    def _later(self, step: Callable[[], None]) -> None:
        """Have a step of the scheduler taken soon, unless the run has ended; any thread may call it."""
        self._scheduler.reporter.later(partial(self._come_back, step))

    def _come_back(self, step: Callable[[], None]) -> None:
        if not self._scheduler.has_ended and not self._attempting.is_leaving:
            self.begin(partial(self._scheduler.take_step, step))

    def leave(self) -> None:
        """Note that the task that owns the run is being cancelled itself."""
        self._attempting.is_leaving = True

    @property
    def are_idle(self) -> bool:
        if self._workers or self._starting:
            return False
        admission = self._scheduler.admission
        return not self._scheduler.timers.are_awaited and (admission is None or not admission.are_waiting)

    def running(self) -> list[FiringId]:
        """List the firings that are being run."""
        current = [worker.current for worker in self._workers if worker.current is not None]
        return [(firing.frame, firing.index) for firing in current]

    def act(self) -> None:
        """Cancel the firings that were closed or withdrawn; start and end the tasks of timers."""
        self._scheduler.to_act = False
        asked, dropped = self._scheduler.timers.news()
        self._sleepers.start(asked)
        self._sleepers.stop(dropped)
        stopped, self._scheduler.stopped = self._scheduler.stopped, []
        for firing in stopped:
            if (current := self._attempting.waiting.get(firing)) is not None:
                current.worker.scope.cancel()

    async def _work(self) -> None:
        """Be a worker, from the first firing to the last."""
        self._starting -= 1
        worker = self._attempting.worker()
        self._workers.add(worker)
        try:
            try:
                with worker.scope:
                    await self._fire_in_turn(worker)
            except self._cancellation:  # one of a node's own: its scope takes back only what it has asked for
                if self._attempting.is_leaving or not worker.scope.cancel_called:
                    raise
            self._end(worker)
        except BaseException as error:
            self._break(error)
            raise

    def _end(self, worker: Worker) -> None:
        self._ready.extend(self._attempting.end_cancelled(worker))
        if self._scheduler.to_act:
            self.act()
        self._workers.discard(worker)
        if self._has_work:
            self._spawn_more(1)  # another takes over
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
        while (firing is not None or self._has_work) and not worker.scope.cancel_called:
            if scheduler.has_more:
                await checkpoint()
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
            elif perf_counter() > until and not worker.scope.cancel_called:
                firing = await self._give_way(firing)
                until = perf_counter() + SLICE
        if firing is not None:
            ready.appendleft(firing)

    async def _give_way(self, firing: FiringId | None) -> FiringId | None:
        """Let everything else have its turn; returns what fires next.

        So what never waits holds up nothing for ever, neither other tasks nor what is ready nor items.
        """
        ready = self._ready
        await checkpoint()
        if self._scheduler.has_items:
            ready.extend(self._scheduler.begin_items())
        if firing is not None and ready:
            ready.append(firing)
            return ready.popleft()
        return firing


def _fire_none(_worker: Worker, firing: FiringId | None, _until: float) -> FiringId | None:
    """Leave every firing to the attempts."""
    return firing
