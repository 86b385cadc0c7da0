"""Workers: the tasks that fire what the scheduler says is ready (S14).

A worker awaits a firing in place and goes on with the first that became ready. Only when a node really
waits, and more is ready, do other workers start: at most two a suspension, so that their number doubles.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anyio.lowlevel import checkpoint

from dataflow.attempting import Attempting
from dataflow.backend import cancellation_types
from dataflow.inline import Inline, Started, following
from dataflow.sleepers import Sleepers
from dataflow.states import READY

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable
    from typing import Any

    from dataflow.attempting import Worker
    from dataflow.inline import Stop
    from dataflow.scheduler import FiringId, Scheduler
    from dataflow.sleepers import Spawn
    from dataflow.timers import Timer

__all__ = ["Workers"]

#: How long, in seconds, a worker goes on before it lets the event loop do other things.
SLICE: Final = 0.005


class Workers:
    """All workers of a run. `idle` is called when the last has ended and nothing is ready."""

    def __init__(self, scheduler: Scheduler, spawn: Spawn, idle: Callable[[], None]) -> None:
        self._scheduler = scheduler
        self.broken: BaseException | None = None  # what has left a task of the engine: nobody handles it
        self._spawn = partial(self._spawn_guarded, spawn)
        self._idle = idle
        self._sleepers = Sleepers(self._spawn, self._due)
        if scheduler.admission is not None:
            scheduler.admission.later = self._later
        self._attempting = Attempting(scheduler, self._suspended)
        self._ready: deque[FiringId] = deque()
        self._inline = Inline(self._attempting.context, self._ready)
        self._workers: set[Worker] = set()
        self._starting = 0
        self._cancellation = cancellation_types()

    def _spawn_guarded(self, spawn: Spawn, function: Callable[[], Coroutine[Any, Any, None]]) -> None:
        spawn(partial(self._guarded, function))

    async def _guarded(self, function: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a task of the engine, and note what breaks out of it: then nothing more can be waited for."""
        try:
            await function()
        except self._cancellation:
            raise
        except BaseException as error:
            self.broken = self.broken or error
            raise

    def begin(self, first: Callable[[], Iterable[FiringId]]) -> None:
        """Spawn a worker that begins with what `first` gives once the worker runs."""
        self._starting += 1
        self._spawn(partial(self._begin_with, first))

    async def _begin_with(self, first: Callable[[], Iterable[FiringId]]) -> None:
        self._ready.extend(first())
        self._attempting.look_for_interruption()
        if self._scheduler.to_act:
            self.act()
        await self._work()

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
        self._starting -= 1
        worker = self._attempting.worker()
        self._workers.add(worker)
        try:
            with worker.scope:
                await self._fire_in_turn(worker)
        except self._cancellation:  # one of a node's own: its scope takes back only what it has asked for
            if self._attempting.is_leaving or not worker.scope.cancel_called:
                raise
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
        return bool(self._ready) or self._scheduler.has_more

    def _spawn_more(self, most: int) -> None:
        work = len(self._ready) + self._scheduler.has_more
        for _ in range(min(most, work - self._starting)):
            self._starting += 1
            self._spawn(self._work)

    def _suspended(self) -> None:
        if self._has_work:
            self._spawn_more(2)

    async def _fire_in_turn(self, worker: Worker) -> None:
        ready, scheduler = self._ready, self._scheduler
        until = perf_counter() + SLICE
        firing = ready.popleft() if ready else None
        while (firing is not None or scheduler.has_more) and not worker.scope.cancel_called:
            if scheduler.has_more:
                await checkpoint()
                ready.extend(scheduler.go_on())
            if firing is not None:
                stop = self._inline.fire(worker, firing, until)
                if scheduler.to_act:
                    self.act()
                newly = await self._go_on(worker, stop)
                firing = following(newly, ready)
            if scheduler.to_act:
                self.act()
            if perf_counter() > until and not worker.scope.cancel_called:
                await checkpoint()
                until = perf_counter() + SLICE
                if firing is not None and ready:  # a chain that never waits holds up nothing for ever
                    ready.append(firing)
                    firing = ready.popleft()
        if firing is not None:
            ready.appendleft(firing)

    async def _go_on(self, worker: Worker, stop: Stop) -> list[FiringId]:
        """Do what inline firings have stopped at; returns what became ready."""
        match stop:
            case None:
                return []
            case Started(current, outcome):
                return await self._attempting.finish(worker, current, outcome)
            case frame, index:
                if frame.states[index] == READY:  # else its frame was closed after it became ready
                    return await self._attempting.fire(worker, frame, index)
                return self._scheduler.passed_over(frame, index)
