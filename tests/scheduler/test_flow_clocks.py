"""Timers, and the time of a flow node, which stops while all in it waits for answers (S7.3, S9.2)."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import trio
from trio.testing import MockClock

from dataflow import EventKind, Flow, Run, RunFailed, node
from dataflow.core.events import Reporter
from dataflow.core.policy import Settings
from dataflow.scheduler.scheduler import Scheduler
from dataflow.scheduler.timers import Timer
from dataflow.stores import Store
from tests.support.steady import jumping
from tests.support.stored_runs import add, one_ask

#: Of the flow node, in seconds.
TIMEOUT = 10


async def rest(seconds: float) -> int:
    await anyio.sleep(seconds)
    return 1


async def rest_then(x: int, seconds: float) -> int:
    await anyio.sleep(seconds)
    return x


def bounded(*, inside: float = 0, then: float = 0, **settings: Any) -> Flow:
    """Wire a flow node that asks, with a node that takes its time beside the ask and one behind it.

    Beside the flow node something runs for 100 s, so that the run does not pause.
    """
    with Flow("inner") as inner:
        answered = inner.add(rest_then, x=inner.add(one_ask).out, seconds=then)
        summed = inner.add(add, a=answered.out, b=inner.add(rest, seconds=inside).out)
        inner.output("y", summed.out)
    with Flow("outer") as f:
        f.output("o", f.add(inner.with_(timeout=TIMEOUT, **settings)).out.y)
        f.add(rest, seconds=100)
    return f


async def answered_after(flow: Flow, seconds: float) -> Any:
    async with flow.start() as run, anyio.create_task_group() as group:
        group.start_soon(_answer, run, run.events(), seconds)
        try:
            return (await run)["o"]
        except RunFailed as failed:
            return failed.failures[0].type
        finally:
            group.cancel_scope.cancel()


async def _answer(run: Run, events: Any, seconds: float) -> None:
    async for event in events:
        if event.kind is EventKind.ASK_OPENED:
            await anyio.sleep(seconds)
            await run.answer({event.path: 41})
            return


class TestTimeOfFlowNodes:
    def test_only_the_wait_for_an_answer_does_not_count(self) -> None:
        found = [
            jumping(partial(answered_after, bounded(**settings), 50))
            for settings in (
                {},
                {"inside": 20},  # runs beside the ask
                {"inside": 9},
                {"then": 20},  # runs after the answer
                {"inside": 6, "then": 3},
                {"inside": 6, "then": 6},
                {"deadline": 20, "retries": 1},
            )
        ]
        assert found == [42, "NodeTimeout", 42, "NodeTimeout", 42, "NodeTimeout", 42]

    async def test_the_time_of_a_run_that_has_paused_stands_still(self) -> None:
        with Flow("outer") as f:
            with Flow("inner") as inner:
                inner.output("y", inner.add(one_ask).out)
            f.output("o", f.add(inner.with_(timeout=3_600)).out.y)
        assert (await f.resume(await f.run(), {"inner/ask": 42}))["o"] == 42


class TestSittings:
    """The time of a flow node in a run that goes on in other processes."""

    @staticmethod
    def flow(**settings: Any) -> Flow:
        async def work(seconds: int) -> int:
            await anyio.sleep(seconds)
            return seconds

        with Flow("sub") as sub:
            first = sub.add(work, seconds=sub.ask(int, "how long?", name="first").out)
            second = sub.ask(int, "and then?", show=first.out, name="second")
            sub.output("o", sub.add(work, seconds=second.out).out)
        with Flow("f") as f:
            f.output("o", f.add(sub.with_(**settings)).out.o)
        return f.using(store=Store.memory())

    def test_what_was_spent_before_a_pause_counts(self) -> None:
        async def go(bound: str, seconds: int) -> str:
            flow = self.flow(**{bound: 10})
            run = (await flow.run()).run_id
            await anyio.sleep(100)  # which does not count
            await flow.resume(run, {"sub/first": seconds})
            try:
                return (await flow.resume(run, {"sub/second": seconds})).status
            except RunFailed as failed:
                return failed.result.status

        for bound in ("timeout", "deadline"):
            for seconds, status in ((4, "completed"), (7, "failed")):
                clock = MockClock(autojump_threshold=0.05)
                assert trio.run(partial(go, bound, seconds), clock=clock) == status


@node
async def one() -> int:
    return 1


def plain() -> Flow:
    with Flow("plain") as f:
        f.output("o", f.add(one).out)
    return f


class Played:
    """A scheduler without anybody who acts, and what its timers have done."""

    def __init__(self) -> None:
        self.scheduler = Scheduler(plain().compile(), Settings(), Reporter("run"))
        self.ready = self.scheduler.start({})
        self.steps: list[str] = []

    def set(self, name: str, *, in_root: bool = True) -> Timer:
        frame = self.scheduler.root if in_root else None
        return self.scheduler.timers.set(1, partial(self.steps.append, name), frame)


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


def test_closing_a_frame_drops_its_timers_and_no_others() -> None:
    played = Played()
    played.set("a")
    other = played.set("b", in_root=False)
    frame, index = played.ready[0]
    played.scheduler.settling.fail(frame, index, ValueError("no"))
    assert played.scheduler.timers.are_awaited
    assert played.scheduler.timers.close(other)
    assert not played.scheduler.timers.are_awaited
