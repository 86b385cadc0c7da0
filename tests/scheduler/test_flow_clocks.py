"""The time of a flow node stands still while everything in it waits for answers (S7.3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import trio
from trio.testing import MockClock

from dataflow import EventKind, Flow, Run, RunFailed
from dataflow.stores import Store
from tests.support.stored_runs import add, one_ask

#: Of the flow node, in seconds.
TIMEOUT = 10


def jumping(main: Callable[[], Any]) -> Any:
    """Run on trio with a clock that jumps to the next timer whenever nothing else can run."""
    return trio.run(main, clock=MockClock(autojump_threshold=0))


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
    """Run a flow and answer its ask after a time; return its output, or what its failure is called."""
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
