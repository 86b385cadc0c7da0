"""A worker: one of the tasks of a run that fire what is ready (S14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.base.backend import current_task
from dataflow.runtime.isolation import Driver

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import anyio

    from dataflow.errors import NodeTimeout
    from dataflow.runtime.calling import CurrentFiring
    from dataflow.runtime.shared import Shared
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Worker"]


class Worker:
    """A task that runs one firing after the other, and can be cancelled with the one it runs."""

    __slots__ = (
        "current", "driver", "has_waited", "is_timed", "is_waiting", "late", "outcome", "scheduler", "scope",
        "shared", "suspends", "task",
    )  # fmt: skip

    def __init__(
        self,
        scheduler: Scheduler,
        suspends: Callable[[CurrentFiring], None],
        scope: anyio.CancelScope,
        shared: Shared,
    ) -> None:
        self.scheduler = scheduler
        self.suspends = suspends  # told of a firing that waits for the first time
        self.current: CurrentFiring | None = None
        self.outcome: Awaitable[Any] | None = None  # what it comes to, until that is awaited
        self.is_waiting = False  # it has come to where it waits for the first time
        self.has_waited = False  # the attempt has waited
        self.is_timed = False  # a time limit may end the attempt
        self.late: NodeTimeout | None = None  # the attempt has ended, but not in its time
        self.scope = scope
        self.shared = shared  # what the firings have open together
        self.driver = Driver()  # of inline firings
        self.task = current_task()

    def begin(self, current: CurrentFiring, outcome: Awaitable[Any], *, is_waiting: bool = False) -> None:
        """Have a firing that has begun; what it comes to is still to be awaited."""
        self.current, self.outcome, self.is_waiting = current, outcome, is_waiting
