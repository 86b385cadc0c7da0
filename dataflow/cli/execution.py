"""Executing a run, watched, so that the first signal cancels it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from dataflow.base.backend import waker
from dataflow.errors import RunFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from dataflow.base.failure import Failure
    from dataflow.cli.interrupts import Interrupts
    from dataflow.core.events import Event
    from dataflow.runtime.result import Result
    from dataflow.runtime.run import Run

__all__ = ["UNREAD", "Outcome", "execute"]

#: Why a run is cancelled whose events nobody reads any more.
UNREAD = "nobody reads the events any more"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended, and how long it took."""

    result: Result
    failures: Sequence[Failure]
    seconds: float
    reason: str = ""  # why it was cancelled


async def execute(
    executing: AbstractAsyncContextManager[Run],
    see: Callable[[Event], bool],
    interrupts: Interrupts,
    *,
    with_inputs: bool = False,
) -> Outcome:
    """Execute a run to its end or its pause, giving each event to `see`.

    When `see` returns False the run is cancelled. `with_inputs`: as for `Run.events`.
    """
    began = perf_counter()
    reason = ""
    async with executing as run:
        events = run.events(inputs=with_inputs)
        interrupts.on_signal(waker(partial(run.cancel, "cancelled by a signal")))
        async for event in events:
            if not see(event) and not reason:
                reason = UNREAD
                run.cancel(reason)
        interrupts.run_ended()
        try:
            result, failures = await run, ()
        except RunFailed as failed:
            return Outcome(failed.result, failed.failures, perf_counter() - began)
    return Outcome(result, failures, perf_counter() - began, reason)
