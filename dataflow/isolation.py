"""Driving a node's coroutine in a contextvars context of its own (S14.5).

The driver sees each value that the coroutine yields to the event loop. That tells, at no cost for a
node that never waits, that a node really suspends, and keeps what it sets to itself.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator
    from contextvars import Context

__all__ = ["as_coroutine", "isolated"]


async def _awaiting(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def as_coroutine(awaitable: Awaitable[Any]) -> Coroutine[Any, Any, Any]:
    """Return something to drive: a coroutine itself, or one that awaits anything else."""
    return awaitable if isinstance(awaitable, types.CoroutineType) else _awaiting(awaitable)


@types.coroutine
def isolated(
    coroutine: Coroutine[Any, Any, Any], context: Context, suspended: Callable[[], None]
) -> Generator[Any, Any, Any]:
    """Run a coroutine to its end in the context; `suspended` is called when it first waits."""
    run, send = context.run, coroutine.send
    try:
        signal = run(send, None)
        suspended()
        while True:
            try:
                reply = yield signal  # trio resumes with a value, asyncio with None
            except BaseException as error:  # noqa: BLE001 - whatever is thrown in belongs to the coroutine
                signal = run(coroutine.throw, error)
            else:
                signal = run(send, reply)
    except StopIteration as finished:
        return finished.value
