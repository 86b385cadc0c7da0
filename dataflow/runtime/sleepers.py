"""Sleepers: a task for each open timer, which sleeps for its time and can be cancelled alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable

    from dataflow.scheduler.timers import Timer

__all__ = ["Sleepers", "Spawn"]

#: Starts a task in the run's task group.
Spawn: TypeAlias = "Callable[[Callable[[], Coroutine[Any, Any, None]]], object]"


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
            scope = self._scopes[timer] = anyio.CancelScope()
            self._spawn(partial(self._sleep, timer, scope, anyio.current_time() + timer.delay))

    def stop(self, timers: Iterable[Timer]) -> None:
        """End the sleep of these timers, which were dropped."""
        for timer in timers:
            scope = self._scopes.pop(timer, None)
            if scope is not None:
                scope.cancel()

    async def _sleep(self, timer: Timer, scope: anyio.CancelScope, until: float) -> None:
        with scope:
            await anyio.sleep_until(until)
        if self._scopes.pop(timer, None) is not None:
            await self._due(timer)
