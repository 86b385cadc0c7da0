"""A node's coroutine is driven in a context of its own (S14.5)."""

from __future__ import annotations

import contextvars
from collections.abc import Coroutine
from typing import Any

import pytest
from anyio.lowlevel import checkpoint

from dataflow.core.firing import Firing, ThreadSource
from dataflow.runtime.call import MOST_BLOCKING, isolated
from tests.support.steady import warn_of_blocking


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


async def driven(coroutine: Coroutine[Any, Any, object]) -> object:
    return await isolated(coroutine, contextvars.copy_context(), Suspensions(), Watched())


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
