"""Inline firings: calls one after the other till one waits, fails, or takes a closer look (S14.2, S14.5)."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable
from contextvars import copy_context
from math import inf
from typing import Any, NamedTuple

import anyio
import pytest
from anyio.lowlevel import checkpoint

from dataflow import SKIP, Flow, Maybe
from dataflow.core.events import Reporter
from dataflow.core.states import CANCELLED, STATES
from dataflow.runtime.attempts import NO_SHELTER, Worker
from dataflow.runtime.call import Attempt
from dataflow.runtime.shared import Shared
from dataflow.runtime.workers import QuickCalls
from dataflow.scheduler.frames import FiringId, Frame
from dataflow.scheduler.scheduler import Scheduler
from tests.support.quick_nodes import inc, one


async def fails(x: int) -> int:
    raise ValueError(x)


async def waits(x: int) -> int:
    await checkpoint()
    return x + 1


async def nothing() -> Maybe[int]:
    return SKIP  # type: ignore[no-any-return]  # it stands for any value


async def plus(x: int, y: int = 5) -> int:
    return x + y


class Started(NamedTuple):
    current: Attempt
    outcome: Awaitable[Any]
    waits: bool


class Row:
    """A run that has begun, and the worker that fires what is ready in it."""

    def __init__(self, flow: Flow) -> None:
        self.reporter = Reporter("a run")
        self.scheduler = Scheduler(flow.compile(), flow.settings, self.reporter, anyio.current_time)
        self.waited: list[Attempt] = []
        shared = Shared(lambda _: pytest.fail("something is opened"), pytest.fail, 0)
        self.worker = Worker(self.scheduler, self.waited.append, anyio.CancelScope(), NO_SHELTER, shared)
        self.ready: deque[FiringId] = deque(self.scheduler.start({}))
        self.left: FiringId | None = None  # that takes more than this
        self.inline = QuickCalls(copy_context(), self.leave, self.ready)

    def leave(self, worker: Worker, frame: Frame, index: int) -> list[FiringId]:
        self.left, worker.current = (frame, index), Attempt.at(worker, frame, index)
        return []

    def fire(self, until: float = inf) -> FiringId | None:
        return self.inline.fire(self.worker, self.ready.popleft() if self.ready else None, until)

    def started(self) -> Started:
        """Fire till one has started that takes more than this."""
        assert self.fire() is None
        worker = self.worker
        assert worker.current is not None
        assert worker.outcome is not None
        return Started(worker.current, worker.outcome, worker.is_waiting)

    def name(self, firing: object) -> str:
        assert isinstance(firing, tuple)
        return str(firing[0].plan.nodes[firing[1]].id)

    def states(self) -> dict[str, str]:
        root = self.scheduler.root
        return {node.id: STATES[root.states[node.index]].value for node in root.plan.nodes}

    def value(self, id: str) -> Any:
        root = self.scheduler.root
        return next(root.values[node.outputs["out"]] for node in root.plan.nodes if node.id == id)


def chain(*functions: Any) -> Flow:
    with Flow() as f:
        port: Any = f.add(one).out
        for function in functions:
            port = f.add(function, x=port).out
        f.output("o", port)
    return f


async def test_it_stops_before_a_call_that_is_given_a_skip() -> None:
    with Flow() as f:
        f.add(plus, x=f.add(one).out, y=f.add(nothing).out)
    row = Row(f)
    assert row.fire() is None
    assert row.name(row.left) == "plus"
    assert row.states() == {"one": "done", "nothing": "done", "plus": "ready"}


async def test_it_stops_before_what_was_cancelled_meanwhile() -> None:
    row = Row(chain(inc))
    row.scheduler.root.states[0] = CANCELLED
    assert row.fire() is None
    assert row.name(row.left) == "one"
    assert row.states()["one"] == "cancelled"


async def test_it_stops_when_its_time_is_over() -> None:
    row = Row(chain(inc))
    assert row.name(row.fire(until=-inf)) == "one"
    assert row.states() == {"one": "ready", "inc": "waiting"}


# those that fail


async def test_after_an_error_a_new_driver_goes_on() -> None:
    row = Row(chain(fails))
    before = row.worker.driver
    outcome = row.started().outcome
    assert row.worker.driver is not before
    with pytest.raises(ValueError, match="1"):
        await outcome
    row.scheduler = Scheduler(chain(inc, inc).compile(), Flow().settings, row.reporter, anyio.current_time)
    row.worker.scheduler = row.scheduler
    row.ready.extend(row.scheduler.start({}))
    row.fire()
    assert row.value("inc_2") == 3


# order and events


def firings(*indices: int) -> list[FiringId]:
    root = Row(chain()).scheduler.root
    return [(root, index) for index in indices]
