"""Driving a node's coroutine in a contextvars context of its own (S14.5).

The driver sees each value that the coroutine yields to the event loop. That tells, at no cost for a
node that never waits, that a node really suspends, and keeps what it sets to itself.
"""

from __future__ import annotations

import types
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator
    from contextvars import Context

__all__ = ["MOST_BLOCKING", "as_coroutine", "isolated", "resumed"]

#: How long, in seconds, one step of a node may keep the event loop before it is told (S9.2).
MOST_BLOCKING: Final = 0.1


class Watch(Protocol):
    """Whoever wants to know that a node has kept the event loop from everything else."""

    def blocked(self, seconds: float) -> None: ...


async def _awaiting(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def as_coroutine(awaitable: Awaitable[Any]) -> Coroutine[Any, Any, Any]:
    """Return something to drive: a coroutine itself, or one that awaits anything else."""
    return awaitable if isinstance(awaitable, types.CoroutineType) else _awaiting(awaitable)


async def isolated(
    coroutine: Coroutine[Any, Any, Any],
    context: Context,
    suspended: Callable[[], None],
    watch: Watch,
) -> Any:
    """Run a coroutine to its end in the context; `suspended` is called when it first waits.

    `watch.blocked` is called with the seconds of each step that kept the event loop for too long. Two
    looks at the clock a step tell them exactly and name the node, which a thread that watches the loop
    from outside could only guess; steps of tasks that the node itself has started are not seen.
    """
    begun = perf_counter()
    try:
        signal = context.run(coroutine.send, None)
    except StopIteration as finished:
        return finished.value
    finally:
        if (seconds := perf_counter() - begun) > MOST_BLOCKING:
            watch.blocked(seconds)
    suspended()
    return await resumed(coroutine, context, signal, watch)


@types.coroutine
def resumed(
    coroutine: Coroutine[Any, Any, Any] | Generator[Any, Any, Any],
    context: Context,
    signal: Any,
    watch: Watch,
) -> Generator[Any, Any, Any]:
    """Run a coroutine on to its end that has just given the event loop this signal."""
    run, send = context.run, coroutine.send
    begun = perf_counter()
    try:
        while True:
            try:
                reply = yield signal  # trio resumes with a value, asyncio with None
            except BaseException as error:  # noqa: BLE001 - whatever is thrown in belongs to the coroutine
                begun = perf_counter()
                signal = run(coroutine.throw, error)
            else:
                begun = perf_counter()
                signal = run(send, reply)
            if perf_counter() - begun > MOST_BLOCKING:
                watch.blocked(perf_counter() - begun)
    except StopIteration as finished:
        return finished.value
    finally:
        if perf_counter() - begun > MOST_BLOCKING:
            watch.blocked(perf_counter() - begun)
