"""`Worker`: a task that fires nodes, and how the firing it runs is cut short."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from math import inf
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import anyio

from dataflow.base.backend import current_task, cut_short
from dataflow.runtime.call import Driver

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dataflow.errors import NodeTimeout
    from dataflow.runtime.call import Attempt
    from dataflow.runtime.shared import Shared
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["NO_SHELTER", "Shelter", "Worker"]

#: On trio the scope inside that of the worker, which shields the clean-up of a firing that is cut short.
Shelter: TypeAlias = "anyio.CancelScope | nullcontext[None]"

#: Asyncio needs none: the task is cancelled, and its scope only after the grace.
NO_SHELTER: Final = nullcontext()


class Worker:
    """A task that runs one firing after the other; it ends with the firing that it cuts short.

    The code of a firing that is cut short is cancelled once, and again, for good, when its clean-up has taken
    longer than `using(cleanup=)`.
    """

    __slots__ = (
        "_timer", "current", "driver", "has_waited", "is_cut", "is_timed", "is_waiting", "late", "outcome",
        "scheduler", "scope", "shared", "shelter", "suspends", "task",
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

    def begin(self, current: Attempt, outcome: Awaitable[Any], *, is_waiting: bool = False) -> None:
        """Take over a firing that has begun; its outcome is still to be awaited."""
        self.current, self.outcome, self.is_waiting = current, outcome, is_waiting

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
