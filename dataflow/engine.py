"""The driver: workers that fire what the scheduler says is ready (S9.6, S14).

A worker awaits a firing in place and goes on with the first that became ready. Only when a node really
waits, and more is ready, do other workers start: at most two a suspension, so that their number doubles.
"""

from __future__ import annotations

import contextvars
import logging
from collections import deque
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.lowlevel import checkpoint

from dataflow.backend import (
    cancel_requests,
    cancellation_types,
    forget_cancellation,
    has_cancellation,
    on_asyncio,
)
from dataflow.binding import bind
from dataflow.current import CURRENT, Firing
from dataflow.errors import DataflowError, NodeFailed
from dataflow.events import EventKind, Reporter
from dataflow.failure import failure_of
from dataflow.isolation import as_coroutine, isolated
from dataflow.plan import Call
from dataflow.scheduler import Scheduler
from dataflow.separation import separate
from dataflow.signature import Shape
from dataflow.states import READY, RUNNING, RunStatus

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Mapping

    from dataflow.frames import Frame
    from dataflow.plan import FlowPlan, PlanNode
    from dataflow.policy import Settings
    from dataflow.scheduler import FiringId

__all__ = ["Engine"]

LOG: Final = logging.getLogger("dataflow.engine")
#: How long, in seconds, a worker goes on before it lets the event loop do other things.
SLICE: Final = 0.005
#: How many firings a worker runs between two looks at the clock.
LOOK_EVERY: Final = 32


class Worker:
    """A task that runs one firing after the other, and can be cancelled with the one it runs."""

    __slots__ = ("firing", "own_cancels", "scope")

    def __init__(self) -> None:
        self.firing: FiringId | None = None
        self.scope = anyio.CancelScope()
        self.own_cancels = cancel_requests()


class CurrentFiring:
    """What `this_firing` finds in the context of a firing, also after the firing has ended."""

    __slots__ = ("engine", "frame", "index")

    def __init__(self, engine: Engine, frame: Frame, index: int) -> None:
        self.engine = engine
        self.frame = frame
        self.index = index

    def this_firing(self) -> Firing:
        return Firing(self.engine.run_id, self.frame.path_of(self.frame.plan.nodes[self.index]), 1, self.emit)

    def emit(self, piece: object, port: str) -> None:
        """Report a piece, unless the firing has ended and the piece comes too late."""
        reporter = self.engine.reporter
        if reporter.is_listening and self.frame.states[self.index] == RUNNING:
            path = self.frame.path_of(self.frame.plan.nodes[self.index])
            reporter.emit(EventKind.PIECE, path, {"port": port, "piece": separate(piece)})


class Engine:
    """Runs one plan once."""

    def __init__(self, plan: FlowPlan, run_id: str, settings: Settings) -> None:
        self.plan = plan
        self.run_id = run_id
        self.settings = settings
        self.reporter = Reporter(run_id)
        self.scheduler = Scheduler(plan, settings.errors, self.reporter)
        self.context = contextvars.copy_context()
        self.status = RunStatus.RUNNING
        self.ended = anyio.Event()
        self.cancel_reason: str | None = None
        self.interruption: BaseException | None = None  # no Exception, raised by a node
        self.is_leaving = False  # the task that owns the run is being cancelled itself
        self._ready: deque[FiringId] = deque()
        self._workers: set[Worker] = set()
        self._starting = 0
        self._has_started = False
        self._inputs: Mapping[str, Any] = {}
        self._spawn: Callable[[Callable[[], Coroutine[Any, Any, None]]], object] | None = None
        self._cancellation = cancellation_types()

    def begin(
        self, spawn: Callable[[Callable[[], Coroutine[Any, Any, None]]], object], inputs: Mapping[str, Any]
    ) -> None:
        """Spawn the first worker, which starts the run; nothing has run when this returns."""
        self._spawn = spawn
        self._inputs = inputs

        async def first() -> None:
            if not self.scheduler.has_ended:  # it may have been cancelled before it began
                self._start()
                self._ready.extend(self.scheduler.start(inputs))
            await self._work()

        self._starting += 1
        spawn(first)

    def cancel(self, reason: str) -> None:
        """Cancel the run; its tasks end at their next step."""
        if self.status is RunStatus.RUNNING and self.cancel_reason is None:
            if not self.scheduler.failures:  # a run that is failing already fails
                self.cancel_reason = reason
            self._start()
            self.scheduler.abort(reason)
            self._cancel_closed()

    def left(self) -> None:
        """Record the truth when the run's tasks were ended from outside (S9.6)."""
        if self.status is RunStatus.RUNNING:
            self.cancel("cancelled from outside")
            for worker in self._workers:
                if worker.firing is not None:
                    self.scheduler.cancelled(*worker.firing)
            self._conclude()

    def _start(self) -> None:
        """Report that the run has started, once."""
        if self._has_started:
            return
        self._has_started = True
        if self.reporter.is_listening:
            data = {"flow": self.plan.name, "inputs": separate(dict(self._inputs))}
            self.reporter.emit(EventKind.RUN_STARTED, "", data)
        unused = [*self.plan.unused_policies, *self.settings.without_effect()]
        if unused:
            names = ", ".join(unused)
            text = f"flow {self.plan.name!r} sets what has no effect in this release: {names}"
            LOG.warning("%s", text)
            self.scheduler.warnings.append(text)
            if self.reporter.is_listening:
                self.reporter.emit(EventKind.WARNING, "", {"code": "without_effect", "text": text})

    # workers

    async def _work(self) -> None:
        self._starting -= 1
        worker = Worker()
        self._workers.add(worker)
        with worker.scope:
            await self._fire_in_turn(worker)
        if worker.firing is not None:  # its scope was cancelled, and the firing with it
            self._ready.extend(self.scheduler.cancelled(*worker.firing))
            worker.firing = None
        self._workers.discard(worker)
        self._look_around()

    def _look_around(self) -> None:
        """After a worker has ended: conclude, or see that another takes over."""
        if self.scheduler.has_ended:
            self._conclude()
        elif self._ready:
            self._spawn_workers(1)
        elif not self._workers and not self._starting:
            self._stuck()

    def _spawn_workers(self, most: int) -> None:
        assert self._spawn is not None, "a run begins before it spawns"
        for _ in range(min(most, len(self._ready) - self._starting)):
            self._starting += 1
            self._spawn(self._work)

    def _suspended(self) -> None:
        if self._ready:
            self._spawn_workers(2)

    async def _fire_in_turn(self, worker: Worker) -> None:
        ready = self._ready
        slice_ends, count = perf_counter() + SLICE, 0
        firing = ready.popleft() if ready else None
        while firing is not None and not worker.scope.cancel_called:
            frame, index = firing
            newly: list[FiringId] = []
            if frame.states[index] == READY:  # else its frame was closed after it became ready
                newly = await self._fire(worker, frame, index)
            if self.scheduler.to_cancel:
                self._cancel_closed()
            if newly:
                firing = newly[0]
                ready.extend(newly[1:])
            else:
                firing = ready.popleft() if ready else None
            count += 1
            if count % LOOK_EVERY == 0 and perf_counter() > slice_ends:
                await checkpoint()
                slice_ends = perf_counter() + SLICE
        if firing is not None:
            ready.appendleft(firing)

    async def _fire(self, worker: Worker, frame: Frame, index: int) -> list[FiringId]:
        """Run one firing to its end and settle it."""
        node = frame.plan.nodes[index]
        call = node.action
        assert isinstance(call, Call), "only calls become ready"
        frame.states[index] = RUNNING
        worker.firing = (frame, index)
        if self.reporter.is_listening:
            data = {"type": call.type.id, "attempt": 1}
            self.reporter.emit(EventKind.NODE_STARTED, frame.path_of(node), data)
        current = CurrentFiring(self, frame, index)
        try:
            result = await self._call(current, node, call)
        except self._cancellation:
            if self._is_cancelling(worker):
                raise
            newly = self._cancelled_itself(frame, node)
        except Exception as error:  # noqa: BLE001 - a node is the user's code and may raise anything
            newly = self._raised(worker, frame, node, error)
        except BaseException as error:
            if self._is_cancelling(worker) and has_cancellation(error, self._cancellation):
                raise
            self.interruption = error
            newly = self.scheduler.fail(frame, index, error)
            self.cancel(f"interrupted by {type(error).__name__}")
        else:
            newly = self._returned(worker, frame, node, result)
        worker.firing = None
        return newly

    async def _call(self, current: CurrentFiring, node: PlanNode, call: Call) -> Any:
        """Call the function in a context of its own."""
        positional, keywords = bind(current.frame, node, call)
        context = self.context.copy()
        context.run(CURRENT.set, current)
        called = context.run(call.type.call, *positional, **keywords)
        if call.type.shape is Shape.PIECES:
            called = _read_pieces(current, called)
        return await isolated(as_coroutine(called), context, self._suspended)

    def _is_cancelling(self, worker: Worker) -> bool:
        """Tell whether a cancellation was asked for, by the engine or by who owns the run."""
        return worker.scope.cancel_called or self.is_leaving or not on_asyncio()

    def _returned(self, worker: Worker, frame: Frame, node: PlanNode, result: Any) -> list[FiringId]:
        if worker.scope.cancel_called:  # it may have been cut short and returned all the same
            return self.scheduler.cancelled(frame, node.index)
        if worker.own_cancels() and not self.is_leaving:
            return self._cancelled_itself(frame, node)
        return self.scheduler.succeed(frame, node.index, result)

    def _raised(self, worker: Worker, frame: Frame, node: PlanNode, error: Exception) -> list[FiringId]:
        if worker.scope.cancel_called:  # no failure of its own, but not to be lost either (S9.5)
            LOG.warning("node %s raised while it was being cancelled", frame.path_of(node), exc_info=error)
            return self.scheduler.cancelled(frame, node.index)
        return self.scheduler.fail(frame, node.index, error)

    def _cancelled_itself(self, frame: Frame, node: PlanNode) -> list[FiringId]:
        forget_cancellation()
        error = NodeFailed(node.id, "cancelled its own task, or awaited one that was cancelled")
        return self.scheduler.fail(frame, node.index, error)

    def _cancel_closed(self) -> None:
        """Cancel the workers whose firing is in a frame that was closed."""
        self.scheduler.to_cancel = False
        for worker in self._workers:
            if worker.firing is not None and worker.firing[0].is_closing:
                worker.scope.cancel()
        if self.scheduler.has_ended and not self._workers:
            self._conclude()

    # the end

    def _stuck(self) -> None:
        """Nothing runs and a demanded port is unsettled: an internal error, never a hang (S8.4)."""
        ports = ", ".join(self.scheduler.unsettled())
        error = DataflowError(f"internal error: nothing is running and these ports never settled: {ports}")
        self.scheduler.failures.append((failure_of(error, "", "", 1), error))
        self.scheduler.has_ended = True
        self._conclude()

    def _conclude(self) -> None:
        """Tell once and for all how the run has ended (S18)."""
        if self.status is not RunStatus.RUNNING:
            return
        if self.cancel_reason is not None:
            self.status = RunStatus.CANCELLED
        elif self.scheduler.failures:
            self.status = RunStatus.FAILED
        else:
            self.status = RunStatus.COMPLETED
        if self.reporter.is_listening:
            self.reporter.emit(EventKind.RUN_FINISHED, "", {"status": self.status.value})
        self.reporter.close()
        self.ended.set()


async def _read_pieces(current: CurrentFiring, pieces: AsyncIterator[Any]) -> list[Any]:
    """Read an async-generator node to its end, reporting each piece (S3.5)."""
    found = []
    async for piece in pieces:
        found.append(piece)
        current.emit(piece, "out")
    return found
