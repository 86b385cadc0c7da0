"""Tasks of the engine: task blocks, sleepers, and running async code from synchronous code."""

from __future__ import annotations

import contextvars
import threading
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import anyio

from dataflow.base.backend import (
    Nursery,
    cancellation_types,
    in_event_loop,
    on_asyncio,
    threadsafe_callback,
    wait_for_tasks,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
    from contextlib import AbstractAsyncContextManager

    from dataflow.base.backend import Event
    from dataflow.runtime.result import Result
    from dataflow.runtime.run import Run
    from dataflow.runtime.workers import Workers
    from dataflow.scheduler.scheduler import Scheduler
    from dataflow.scheduler.timers import Timer

__all__ = ["Sleepers", "Spawn", "owning_tasks", "run_sync"]

#: Starts a task in the run's task group.
Spawn: TypeAlias = "Callable[[Callable[[], Coroutine[Any, Any, None]]], object]"


class Owned(Protocol):
    """An engine, whose tasks are those of its workers."""

    scheduler: Scheduler
    workers: Workers
    ended: Event  # set once nothing is running

    def cancel(self, reason: str) -> None:
        """Cancel what is running; `ended` is set when it has ended."""

    def leave(self, error: BaseException | None) -> None:
        """Note that its block is left, by an error if there is one; `ended` is waited for."""

    async def close(self) -> None:
        """Note that all tasks have ended, for whatever reason."""


E = TypeVar("E", bound=Owned)


@asynccontextmanager
async def owning_tasks(make: Callable[[Spawn], E]) -> AsyncIterator[E]:
    """Create an engine that spawns its tasks in a group of this block, and let it end with the block.

    An error in the block is raised as it is, not in a group; so is an error that has broken a task, or has
    interrupted the engine.
    """
    broken: BaseException | None = None
    engine: E | None = None
    try:
        async with Nursery() as spawn:
            engine = make(spawn)
            try:
                try:
                    yield engine
                except cancellation_types():
                    raise
                except BaseException as error:  # noqa: BLE001 - raised again below, not wrapped in a group
                    broken = error
                engine.leave(broken)
                if not engine.ended.is_set():
                    await engine.ended.wait()
                await engine.workers.shared.close()
            except BaseException:
                await _end_cancelled(engine)
                raise
    except BaseExceptionGroup as group:
        if engine is None or engine.workers.broken is None:
            raise
        raise engine.workers.broken from group
    finally:
        if engine is not None:
            await engine.close()
    if engine.scheduler.interruption is not None:
        raise engine.scheduler.interruption
    if broken is not None:
        raise broken


async def _end_cancelled(engine: Owned) -> None:
    """End an engine whose owner is being cancelled.

    The engine itself cancels what is running, and is awaited. A second cancellation ends the clean-up, but
    not shielded code. asyncio's task group would cancel that too, so it is left once the workers have ended.
    """
    workers, cancellation = engine.workers, cancellation_types()
    try:
        if workers.broken is None:
            workers.are_asked = True
            engine.cancel("cancelled from outside")
            with anyio.CancelScope(shield=True):
                await engine.ended.wait()
    except cancellation:
        workers.shared.hurry()
    finally:
        workers.leave()  # what the workers still see is a real cancellation
        while not await _is_over(workers):
            workers.shared.hurry()


async def _is_over(workers: Workers) -> bool:
    """Wait until workers and shared resources have ended; False if another cancellation arrives meanwhile."""
    try:
        await wait_for_tasks(workers.tasks)
        await workers.shared.close()
    except cancellation_types():
        return False
    return True


class Sleepers:
    """The tasks that sleep for the timers of a run; each calls `due` when its time has come."""

    def __init__(self, spawn: Spawn, due: Callable[[Timer], Awaitable[None]]) -> None:
        self._spawn = spawn
        self._due = due
        self._scopes: dict[Timer, anyio.CancelScope] = {}

    def start(self, timers: Iterable[Timer]) -> None:
        """Begin to sleep for these timers."""
        for timer in timers:
            # counted from now, not from when the task gets its turn
            self._begin(timer, anyio.current_time() + timer.delay)

    def _begin(self, timer: Timer, until: float) -> None:
        scope = self._scopes[timer] = anyio.CancelScope()
        self._spawn(partial(self._sleep, timer, scope, until))

    def stop(self, timers: Iterable[Timer]) -> None:
        """End the sleep of these timers, which were dropped."""
        for timer in timers:
            scope = self._scopes.pop(timer, None)
            if scope is not None:
                scope.cancel()

    async def _sleep(self, timer: Timer, scope: anyio.CancelScope, until: float) -> None:
        try:
            with scope:
                await anyio.sleep_until(until)
        except cancellation_types():
            if on_asyncio() and timer in self._scopes:  # the task was cancelled, not what it is for
                self._begin(timer, until)
            raise
        if self._scopes.pop(timer, None) is not None:
            await self._due(timer)


def run_sync(started: AbstractAsyncContextManager[Run], name: str) -> Result:
    """Run to the end; `name` is the name of the thread, if one is needed."""
    return _run_in_thread(started, name) if in_event_loop() else anyio.run(_run, started)


async def _run(started: AbstractAsyncContextManager[Run]) -> Result:
    async with started as run:
        return await run


def _run_in_thread(started: AbstractAsyncContextManager[Run], name: str) -> Result:
    """Run in a new thread and wait for it; an interruption of the wait cancels the run first (S9.6)."""
    outcome: list[Result | BaseException] = []
    context = contextvars.copy_context()
    cancel: list[Callable[[], None]] = []

    async def seeded() -> Result:
        """Run with the caller's contextvars; those of the new event loop itself are kept."""
        for variable, value in context.items():
            if variable not in contextvars.copy_context():
                variable.set(value)
        async with started as run:
            cancel.append(threadsafe_callback(lambda: run.cancel("interrupted")))
            return await run

    def work() -> None:
        try:
            outcome.append(anyio.run(seeded))
        except BaseException as error:  # noqa: BLE001 - raised again in the calling thread
            outcome.append(error)

    thread = threading.Thread(target=work, daemon=True, name=name)
    thread.start()
    try:
        thread.join()
    except BaseException:  # Ctrl-C
        for wake in cancel:
            wake()
        thread.join()
        raise
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
