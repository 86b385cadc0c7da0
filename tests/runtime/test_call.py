"""A node's coroutine is driven in a context of its own (S14.5)."""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable, Coroutine, Generator
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from dataflow.core.firing import Firing, ThreadSource
from dataflow.runtime.call import MOST_BLOCKING, as_coroutine, isolated
from tests.support.steady import warn_of_blocking

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="outside")


class Suspensions:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


class Watched:
    """Keeps how long each step took that kept the event loop."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def resumes(self) -> None:
        pass

    def blocked(self, seconds: float) -> None:
        self.seconds.append(seconds)

    def this_firing(self) -> Firing:
        return Firing("a run", "a")

    def in_thread(self) -> ThreadSource:
        raise AssertionError("no thread is started here")


class Wrapped:
    """An awaitable that is no coroutine."""

    def __init__(self, inner: Awaitable[str]) -> None:
        self.inner = inner

    def __await__(self) -> Generator[Any, Any, str]:
        return self.inner.__await__()


async def setting(name: str, waits: int = 0) -> str:
    for _ in range(waits):
        await checkpoint()
    NAME.set(name)
    await checkpoint()
    return NAME.get()


async def driven(coroutine: Coroutine[Any, Any, object]) -> object:
    return await isolated(coroutine, contextvars.copy_context(), Suspensions(), Watched())


async def test_what_is_set_inside_stays_inside() -> None:
    first, second = contextvars.copy_context(), contextvars.copy_context()
    assert await isolated(setting("first"), first, Suspensions(), Watched()) == "first"
    assert NAME.get() == "outside"
    assert NAME not in second
    assert await isolated(setting("second"), second, Suspensions(), Watched()) == "second"
    assert (first[NAME], second[NAME]) == ("first", "second")


async def test_only_the_first_wait_is_reported() -> None:
    async def immediately() -> int:
        return 3

    suspended = Suspensions()
    assert await isolated(immediately(), contextvars.copy_context(), suspended, Watched()) == 3
    assert suspended.count == 0
    await isolated(setting("x", waits=3), contextvars.copy_context(), suspended, Watched())
    assert suspended.count == 1


async def test_an_error_comes_out() -> None:
    async def broken(waits: int) -> int:
        for _ in range(waits):
            await checkpoint()
        raise ValueError("mine")

    for waits in (0, 1):
        with pytest.raises(ValueError, match="mine"):
            await driven(broken(waits))


async def test_a_cancellation_reaches_the_coroutine_in_its_context() -> None:
    seen: list[str] = []

    async def waits() -> None:
        NAME.set("inside")
        try:
            await anyio.sleep_forever()
        finally:
            seen.append(NAME.get())

    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(cancelling, scope)
            await driven(waits())
    assert scope.cancelled_caught
    assert seen == ["inside"]


async def cancelling(scope: anyio.CancelScope) -> None:
    await anyio.wait_all_tasks_blocked()
    scope.cancel()


async def test_a_coroutine_may_swallow_what_is_thrown_in() -> None:
    async def stubborn() -> str:
        with anyio.move_on_after(0):
            await anyio.sleep_forever()
        await checkpoint()
        return "went on"

    assert await driven(stubborn()) == "went on"


async def test_a_coroutine_is_driven_as_it_is() -> None:
    coroutine = setting("x")
    assert as_coroutine(coroutine) is coroutine
    coroutine.close()


async def test_any_awaitable_can_be_driven() -> None:
    suspended = Suspensions()
    wrapped = as_coroutine(Wrapped(setting("inside")))
    assert await isolated(wrapped, contextvars.copy_context(), suspended, Watched()) == "inside"
    assert suspended.count == 1
    assert NAME.get() == "outside"


async def test_each_step_that_keeps_the_event_loop_is_reported_with_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    warn_of_blocking(monkeypatch, above=MOST_BLOCKING)
    monkeypatch.setattr("dataflow.runtime.call.perf_counter", lambda: now)

    async def blocking() -> None:
        nonlocal now
        for seconds in (0.12, 0.01, 0.15, 0.23):
            await checkpoint()
            now += seconds
        raise ValueError("late")

    watched = Watched()
    with pytest.raises(ValueError, match="late"):
        await isolated(blocking(), contextvars.copy_context(), Suspensions(), watched)
    assert watched.seconds == pytest.approx([0.12, 0.15, 0.23])
