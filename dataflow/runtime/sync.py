"""A run for synchronous code; where an event loop is running already, in a thread of its own."""

from __future__ import annotations

import contextvars
import threading
from typing import TYPE_CHECKING

import anyio

from dataflow.base.backend import in_event_loop, waker

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from dataflow.runtime.result import Result
    from dataflow.runtime.run import Run

__all__ = ["run_sync"]


def run_sync(started: AbstractAsyncContextManager[Run], name: str) -> Result:
    """Run to the end; `name` is what a thread is called that this takes."""
    return _run_in_thread(started, name) if in_event_loop() else anyio.run(_run, started)


async def _run(started: AbstractAsyncContextManager[Run]) -> Result:
    async with started as run:
        return await run


def _run_in_thread(started: AbstractAsyncContextManager[Run], name: str) -> Result:
    """Run in a new thread and wait for it; whatever interrupts the wait cancels the run first (S9.6)."""
    outcome: list[Result | BaseException] = []
    context = contextvars.copy_context()
    cancel: list[Callable[[], None]] = []

    async def seeded() -> Result:
        """Run with the caller's contextvars; those of the new event loop itself stay."""
        for variable, value in context.items():
            if variable not in contextvars.copy_context():
                variable.set(value)
        async with started as run:
            cancel.append(waker(lambda: run.cancel("interrupted")))
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
