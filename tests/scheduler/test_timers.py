"""Timers: asked for by the scheduler, slept for in tasks of the run, gone when nobody needs them (S9.1)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import anyio
import trio
from trio.testing import MockClock

from dataflow import Flow, node
from dataflow.base.backend import Nursery
from dataflow.core.events import Reporter
from dataflow.core.policy import Settings
from dataflow.core.states import RunStatus
from dataflow.runtime.engine import Engine
from dataflow.runtime.start import FirstStart
from dataflow.scheduler.frames import Frame
from dataflow.scheduler.scheduler import Scheduler
from dataflow.scheduler.timers import Timer


@node
async def one() -> int:
    """Give 1."""
    return 1


def plain() -> Flow:
    with Flow("plain") as f:
        f.output("o", f.add(one).out)
    return f


def nothing() -> None:
    """Take a step that changes nothing."""


class Played:
    """A scheduler without anybody who acts, and what its timers have done."""

    def __init__(self) -> None:
        self.scheduler = Scheduler(plain().compile(), Settings(), Reporter("run"))
        self.ready = self.scheduler.start({})
        self.steps: list[str] = []

    def set(self, name: str, *, in_root: bool = True) -> Timer:
        frame = self.scheduler.root if in_root else None
        return self.scheduler.timers.set(1, partial(self.steps.append, name), frame)


def test_a_timer_that_is_due_takes_its_step_and_gives_what_became_ready() -> None:
    played = Played()
    frame, index = played.ready[0]
    timer = played.scheduler.timers.set(1, partial(played.scheduler.make_ready, frame, index), frame)
    assert played.scheduler.due(timer) == [(frame, index)]
    assert not played.scheduler.timers.are_awaited


def test_a_step_is_taken_once_unless_its_timer_is_dropped() -> None:
    played = Played()
    timer, dropped = played.set("a"), played.set("b")
    played.scheduler.timers.drop(dropped)
    for one in (timer, timer, dropped):
        played.scheduler.due(one)
    assert played.steps == ["a"]


def test_the_news_are_told_once() -> None:
    played = Played()
    kept, dropped, never_told = played.set("a"), played.set("b"), played.set("c")
    played.scheduler.timers.drop(never_told)
    assert played.scheduler.timers.news() == ([kept, dropped], [never_told])
    played.scheduler.timers.drop(dropped)
    assert played.scheduler.timers.news() == ([], [dropped])
    assert played.scheduler.timers.news() == ([], [])


def test_the_acting_side_is_told_to_look() -> None:
    played = Played()
    seen = [played.scheduler.to_act]
    timer = played.set("a")
    seen.append(played.scheduler.to_act)
    played.scheduler.to_act = False
    played.scheduler.timers.drop(timer)
    seen.append(played.scheduler.to_act)
    assert seen == [False, True, True]


def test_aborting_drops_every_timer() -> None:
    for in_root in (True, False):
        played = Played()
        played.set("a", in_root=in_root)
        played.scheduler.abort("enough")
        assert not played.scheduler.timers.are_awaited


def test_closing_a_frame_drops_its_timers_and_no_others() -> None:
    played = Played()
    played.set("a")
    other = played.set("b", in_root=False)
    frame, index = played.ready[0]
    played.scheduler.settling.fail(frame, index, ValueError("no"))
    assert played.scheduler.timers.are_awaited
    assert played.scheduler.timers.close(other)
    assert not played.scheduler.timers.are_awaited


def test_a_frame_that_ends_drops_its_timers() -> None:
    played = Played()
    played.set("a")
    frame, index = played.ready[0]
    played.scheduler.settling.succeed(frame, index, 1)
    assert not played.scheduler.timers.are_awaited


@asynccontextmanager
async def engine_of(flow: Flow) -> AsyncIterator[Engine]:
    async with Nursery() as spawn:
        scheduler = Scheduler(flow.compile(), Settings(), Reporter("run"), anyio.current_time)
        engine = Engine(scheduler, FirstStart({}), spawn)
        yield engine
        await engine.ended.wait()


def instead_of_firing(engine: Engine, act: Callable[[Callable[[], None]], object]) -> None:
    """Call `act` where the only node would become ready; what it is given makes it ready."""
    scheduler = engine.scheduler
    fire = scheduler.make_ready

    def put_off(frame: Frame, index: int) -> None:
        act(partial(fire, frame, index))

    scheduler.make_ready = put_off  # type: ignore[method-assign]


def test_a_run_with_an_open_timer_is_not_idle_and_each_timer_waits_its_time() -> None:
    times: list[float] = []

    def note() -> None:
        times.append(trio.current_time())

    async def main() -> None:
        async with engine_of(plain()) as engine:
            timers = engine.scheduler.timers

            def act(fire: Callable[[], None]) -> None:
                for delay, step in ((5, note), (3, note), (7, fire)):
                    timers.set(delay, step)

            instead_of_firing(engine, act)
            note()
            engine.begin()
        note()
        assert engine.status is RunStatus.COMPLETED

    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert [time - times[0] for time in times] == [0, 3, 5, 7]


async def test_a_timer_makes_a_node_run_on_either_backend() -> None:
    async with engine_of(plain()) as engine:
        instead_of_firing(engine, partial(engine.scheduler.timers.set, 0.001))
        engine.begin()
    assert engine.status is RunStatus.COMPLETED


async def test_nothing_of_a_timer_outlives_the_run() -> None:
    async with engine_of(plain()) as engine:

        def act(fire: Callable[[], None]) -> None:
            engine.scheduler.timers.set(3_600, nothing)
            fire()

        instead_of_firing(engine, act)
        engine.begin()
    assert engine.status is RunStatus.COMPLETED


async def test_cancelling_a_run_ends_the_sleep_of_its_timers() -> None:
    async with engine_of(plain()) as engine:

        def act(_: Callable[[], None]) -> None:
            engine.scheduler.timers.set(3_600, nothing, engine.scheduler.root)
            engine.scheduler.timers.set(0, partial(engine.cancel, "enough"))

        instead_of_firing(engine, act)
        engine.begin()
    assert engine.status is RunStatus.CANCELLED
