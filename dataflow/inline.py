"""Inline firings: calls made one after the other, without a task or an await of their own, while none waits."""

from __future__ import annotations

import types
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dataflow.calling import CurrentFiring
from dataflow.current import CURRENT
from dataflow.isolation import MOST_BLOCKING, resumed
from dataflow.states import READY, RUNNING

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Awaitable, Generator, Sequence
    from contextvars import Context

    from dataflow.attempting import Worker
    from dataflow.scheduler import FiringId

__all__ = ["Inline", "Started", "Stop", "following"]

#: What a driver gives when a call has returned that never waited.
RETURNED: Final = object()


@dataclass(frozen=True, slots=True)
class Started:
    """A firing that has begun; what it comes to is awaited."""

    current: CurrentFiring
    outcome: Awaitable[Any]


#: Where a row of inline firings has stopped: at one that waits or needs a closer look, at one that takes more than
#: a call or whose turn comes after other tasks, or since nothing is ready.
Stop: TypeAlias = "Started | FiringId | None"


class _Driver:
    """Drives coroutines one after the other to their ends; one that waits or raises is its last.

    A generator that goes on costs half of what raising StopIteration for each coroutine does.
    """

    __slots__ = ("has_waited", "result", "rows")

    def __init__(self) -> None:
        self.has_waited = False
        self.result: Any = None
        self.rows = self._in_turn()
        self.rows.send(None)

    @types.coroutine
    def _in_turn(self) -> Generator[Any, Any, Any]:
        current, coroutine = yield
        while True:
            CURRENT.set(current)
            self.result = yield from coroutine
            if self.has_waited:
                return self.result
            current = coroutine = None
            current, coroutine = yield RETURNED


class Inline:
    """Fires what takes no more than a call (`QuickCall`), each in a context of its own (S14.5)."""

    def __init__(self, context: Context, ready: deque[FiringId]) -> None:
        self._context = context
        self._ready = ready
        self._driver = _Driver()

    def fire(self, worker: Worker, firing: FiringId | None, until: float) -> Stop:
        """Fire one call after the other, as long as none waits and the clock is not past `until`."""
        scheduler, own_cancels, ready = worker.scheduler, worker.own_cancels, self._ready
        copy, reporter, succeed = self._context.copy, scheduler.reporter, scheduler.succeed
        driver = self._driver
        send = driver.rows.send
        ended = perf_counter()
        while firing is not None and ended < until and not (scheduler.to_act or scheduler.has_more):
            frame, index = firing
            quick = frame.plan.quick[index]
            if quick is None or index in frame.odd or frame.states[index] != READY or reporter.is_listening:
                return firing
            frame.states[index] = RUNNING
            coroutine = quick.function(*quick.take(frame.values))
            current, context = CurrentFiring(worker, frame, index), copy()
            begun = perf_counter()
            try:
                signal = context.run(send, (current, coroutine))
            except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
                self._driver = _Driver()
                self._look(current, begun)
                return Started(current, _raises(error))
            ended = perf_counter()
            if ended - begun > MOST_BLOCKING:
                current.blocked(ended - begun)
            if signal is not RETURNED:
                self._driver, driver.has_waited = _Driver(), True
                return Started(current, _waits(current, resumed(driver.rows, context, signal, current)))
            if own_cancels() or frame.is_closing:
                return Started(current, _returns(driver.result))
            newly = succeed(frame, index, driver.result)
            driver.result = None  # nothing is held that has ended (S8.5)
            if newly:
                firing = newly[0]
                if len(newly) > 1:
                    ready.extend(newly[1:])
            else:
                firing = ready.popleft() if ready else None
        return firing

    def _look(self, current: CurrentFiring, begun: float) -> None:
        """Look at the clock whether a step has kept the event loop for too long."""
        seconds = perf_counter() - begun
        if seconds > MOST_BLOCKING:
            current.blocked(seconds)


def following(newly: Sequence[FiringId], ready: deque[FiringId]) -> FiringId | None:
    """Return what fires next: the first of what one firing has made ready, or who has waited longest (S14.2)."""
    if newly:
        if len(newly) > 1:
            ready.extend(newly[1:])
        return newly[0]
    return ready.popleft() if ready else None


async def _waits(current: CurrentFiring, rest: Awaitable[Any]) -> Any:
    current.suspends()
    return await rest


async def _raises(error: BaseException) -> Any:
    raise error


async def _returns(result: Any) -> Any:
    return result
