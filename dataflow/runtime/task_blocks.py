"""The block that owns the tasks of an engine: however it is left, they end with it (S9.6)."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

import anyio

from dataflow.base.backend import Nursery, cancellation_types, on_asyncio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dataflow.base.backend import Event
    from dataflow.runtime.sleepers import Spawn
    from dataflow.runtime.workers import Workers
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["owning_tasks"]


class Owned(Protocol):
    """An engine, whose tasks are those of its workers."""

    scheduler: Scheduler
    workers: Workers
    ended: Event  # set once nothing runs any more

    def cancel(self, reason: str) -> None:
        """End what runs; `ended` is set when it has."""

    def leave(self, error: BaseException | None) -> None:
        """Note that its block is left, by an error if there is one; `ended` is waited for."""

    async def close(self) -> None:
        """Note that there is no task any more, however it came to that."""


E = TypeVar("E", bound=Owned)


@asynccontextmanager
async def owning_tasks(make: Callable[[Spawn], E]) -> AsyncIterator[E]:
    """Make an engine that spawns its tasks in a group of this block, and let it end when the block is left.

    An error in the block is raised as it is, not in a group; so is what has broken a task, or has interrupted
    the engine.
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
    """See to it that nothing more of an engine starts whose owner is being cancelled.

    A task group of asyncio's would cancel each task once, past the scopes that shield: the engine itself
    cancels what runs, again and again, and is awaited. On trio the tasks are in the owner's scope themselves.
    """
    try:
        if on_asyncio() and engine.workers.broken is None:
            engine.cancel("cancelled from outside")
            with anyio.CancelScope(shield=True):
                await engine.ended.wait()
    finally:
        engine.workers.leave()  # what the workers still see is a real cancellation
        await engine.workers.shared.close()
