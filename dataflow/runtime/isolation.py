"""Driving a node's coroutine in a contextvars context of its own (S14.5).

The driver sees each value that the coroutine yields to the event loop. That tells, at no cost for a
node that never waits, that a node really suspends, and keeps what it sets to itself.
"""

from __future__ import annotations

import types
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Protocol

from dataflow.core.firing import CURRENT, FiringSource

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator
    from contextvars import Context

__all__ = ["MOST_BLOCKING", "RETURNED", "Driver", "as_coroutine", "isolated", "look", "resumed"]

#: What a driver gives when a coroutine has returned.
RETURNED: Final = object()

#: How long, in seconds, one step of a node may keep the event loop before it is told (S9.2).
MOST_BLOCKING: Final = 0.1


class Watch(FiringSource, Protocol):
    """What is found in the context of a node, and told when the node has kept the event loop."""

    def blocked(self, seconds: float) -> None: ...


async def _awaiting(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def as_coroutine(awaitable: Awaitable[Any]) -> Coroutine[Any, Any, Any]:
    """Return something to drive: a coroutine itself, or one that awaits anything else."""
    return awaitable if isinstance(awaitable, types.CoroutineType) else _awaiting(awaitable)


class Driver:
    """Drives coroutines to their ends, one after the other; one that raises is the last.

    A generator that goes on costs half of what raising StopIteration for each coroutine does. Run in the
    context of a node, `turns.send` takes what `this_firing` is to find there and the coroutine; it gives
    `RETURNED`, or what the coroutine gives the event loop when it waits.
    """

    __slots__ = ("_result", "turns")

    def __init__(self) -> None:
        self._result: Any = None
        self.turns = self._in_turn()
        self.turns.send(None)

    @types.coroutine
    def _in_turn(self) -> Generator[Any, Any, Any]:
        source, coroutine = yield
        while True:
            CURRENT.set(source)
            self._result = yield from coroutine
            source = coroutine = None  # nothing is held that has ended (S8.5)
            source, coroutine = yield RETURNED

    def result(self) -> Any:
        """Give away what the last coroutine has returned."""
        result, self._result = self._result, None
        return result


async def isolated(
    coroutine: Coroutine[Any, Any, Any], context: Context, suspended: Callable[[], None], watch: Watch
) -> Any:
    """Run a coroutine to its end in the context; `suspended` is called when it first waits.

    `watch.blocked` is called with the seconds of each step that kept the event loop for too long. Two
    looks at the clock a step tell them exactly and name the node, which a thread that watches the loop
    from outside could only guess; steps of tasks that the node itself has started are not seen.
    """
    driver, begun = Driver(), perf_counter()
    try:
        signal = context.run(driver.turns.send, (watch, coroutine))
    finally:
        look(watch, begun)
    if signal is RETURNED:
        return driver.result()
    suspended()
    return await resumed(driver, context, signal, watch)


@types.coroutine
def resumed(driver: Driver, context: Context, signal: Any, watch: Watch) -> Generator[Any, Any, Any]:
    """Run a coroutine on to its end that waits, having just given the event loop this signal."""
    while signal is not RETURNED:
        try:
            reply = yield signal  # trio resumes with a value, asyncio with None
        except BaseException as error:  # noqa: BLE001 - whatever is thrown in belongs to the coroutine
            step: Callable[[Any], Any] = driver.turns.throw
            reply = error
        else:
            step = driver.turns.send
        begun = perf_counter()
        try:
            signal = context.run(step, reply)
        finally:
            look(watch, begun)
    return driver.result()


def look(watch: Watch, begun: float) -> None:
    """Look at the clock whether a step that began then has kept the event loop for too long."""
    seconds = perf_counter() - begun
    if seconds > MOST_BLOCKING:
        watch.blocked(seconds)
