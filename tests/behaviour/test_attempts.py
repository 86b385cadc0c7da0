"""Retry counts and waiting times, on a clock that jumps (S9.1); what an attempt may know."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import pytest
import trio
from trio.testing import MockClock

from dataflow import (
    Event,
    EventKind,
    Failure,
    Flow,
    Result,
    Retry,
    RunFailed,
    node,
    race,
)
from tests.behaviour.table import states_of


class Flaky:
    """A node that fails so often, and notes when each attempt began, from the first on."""

    def __init__(self, failures: int = 9_999, error: Exception | None = None) -> None:
        self.failures = failures
        self.error = error or ValueError("no")
        self.times: list[float] = []

    async def __call__(self) -> str:
        self.times.append(anyio.current_time())
        if len(self.times) <= self.failures:
            raise self.error
        return f"attempt {len(self.times)}"

    @property
    def starts(self) -> list[float]:
        return [time - self.times[0] for time in self.times]

    def flow(self, **settings: Any) -> Flow:
        async def flaky() -> str:
            return await self()

        with Flow("f") as f:
            f.output("o", f.add(node(**settings)(flaky)).out)
        return f


def jumping(main: Callable[[], Any]) -> Any:
    """Run on trio with a clock that jumps to the next timer whenever nothing else can run."""
    return trio.run(main, clock=MockClock(autojump_threshold=0))


async def events_of(flow: Flow) -> tuple[list[Event], Result]:
    async with flow.start() as run:
        events = [event async for event in run.events()]
        try:
            return events, await run
        except RunFailed as failed:
            return events, failed.result


@pytest.mark.parametrize(
    ("retries", "starts"),
    [
        (0, [0]),
        (Retry(2, backoff="exponential"), [0, 1, 3]),
        (Retry(3, backoff="exponential"), [0, 1, 3, 7]),
        (Retry(3, backoff="fixed"), [0, 1, 2, 3]),
        (Retry(3), [0, 0, 0, 0]),
        (Retry(3, on=("timeout",), backoff="fixed"), [0]),
    ],
    ids=["none", "2 exponential", "3 exponential", "3 fixed", "3 at once", "another error"],
)
def test_a_node_that_always_fails_is_attempted_so_often_with_these_waits(
    retries: int | Retry, starts: list[float]
) -> None:
    flaky = Flaky()
    with pytest.raises(RunFailed) as failed:
        jumping(flaky.flow(retries=retries).run)
    assert flaky.starts == starts
    assert [(one.path, one.attempt) for one in failed.value.failures] == [("flaky", len(starts))]


class Busy(Exception):
    """What a server says that asks to be left alone for 5 seconds."""

    retry_after = 5
    is_lasting = False


@pytest.mark.parametrize(
    ("settings", "starts"),
    [
        ({"retries": 2}, [0, 5, 10]),
        ({"retries": Retry(3, backoff="exponential", first=2)}, [0, 5, 10, 18]),
        ({"retries": 3, "deadline": 11}, [0, 5, 10]),
        ({"retries": 3, "deadline": 5}, [0]),
    ],
    ids=[
        "no backoff",
        "the longer wait counts",
        "as long as the deadline allows",
        "the deadline allows none",
    ],
)
def test_the_next_attempt_waits_as_long_as_the_error_asks(
    settings: dict[str, Any], starts: list[float]
) -> None:
    flaky = Flaky(error=Busy("busy"))
    with pytest.raises(RunFailed) as failed:
        jumping(flaky.flow(**settings).run)
    assert flaky.starts == starts
    assert failed.value.failures[0].type == "Busy"


def test_an_error_that_lasts_ends_the_attempts_at_once() -> None:
    lasting = Busy("no key")
    lasting.is_lasting = True
    flaky = Flaky(error=lasting)
    with pytest.raises(RunFailed):
        jumping(flaky.flow(retries=Retry(3, backoff="fixed")).run)
    assert flaky.starts == [0]


def test_the_record_lists_every_attempt_with_its_error_and_start() -> None:
    flaky = Flaky(2)
    events, result = jumping(partial(events_of, flaky.flow(retries=Retry(2, backoff="exponential"))))
    told = [(one.kind, one.data.get("attempt"), one.data.get("delay")) for one in events[1:-1]]
    assert told == [
        (EventKind.NODE_STARTED, 1, None),
        (EventKind.ATTEMPT_FAILED, 1, 1.0),
        (EventKind.TIMER_SET, None, None),
        (EventKind.NODE_STARTED, 2, None),
        (EventKind.ATTEMPT_FAILED, 2, 2.0),
        (EventKind.TIMER_SET, None, None),
        (EventKind.NODE_STARTED, 3, None),
        (EventKind.NODE_FINISHED, None, None),
    ]
    failures = [one.data["error"] for one in events if one.kind is EventKind.ATTEMPT_FAILED]
    assert all(isinstance(one, Failure) for one in failures)
    assert [(one.attempt, one.type, one.message) for one in failures] == [
        (1, "ValueError", "no"),
        (2, "ValueError", "no"),
    ]
    assert result["o"] == "attempt 3"


def test_attempts_that_time_out_are_each_timed_out() -> None:
    async def slow() -> str:
        await anyio.sleep(1)
        return "late"

    with Flow("f") as f:
        f.output("o", f.add(node(timeout=0.1, retries=1)(slow)).out)
    events, result = jumping(partial(events_of, f))
    errors = [one.data["error"].type for one in events if one.kind is EventKind.ATTEMPT_FAILED]
    assert errors == ["NodeTimeout"]
    assert states_of(result) == {"slow": "timed_out"}
    assert "late" not in repr(events)


def test_cancelling_during_a_wait_ends_it_at_once_and_nothing_runs_any_more() -> None:
    flaky = Flaky()

    async def main() -> tuple[Result, float]:
        async with flaky.flow(retries=Retry(1, backoff="fixed", first=3_600)).start() as run:
            await trio.sleep(1)
            run.cancel("enough")
            return await run, trio.current_time()

    result, ended = jumping(main)
    assert result.status == "cancelled"
    assert states_of(result) == {"flaky": "cancelled"}
    assert flaky.starts == [0]
    assert ended - flaky.times[0] == 1


def test_a_failure_elsewhere_during_a_wait_ends_it_too() -> None:
    flaky = Flaky()
    flow = flaky.flow(retries=Retry(1, backoff="fixed", first=3_600))

    async def fails() -> None:
        await anyio.sleep(1)
        raise KeyError("other")

    flow.add(fails)
    with pytest.raises(RunFailed) as failed:
        jumping(flow.run)
    assert [one.path for one in failed.value.failures] == ["fails"]
    assert states_of(failed.value.result) == {"flaky": "cancelled", "fails": "failed"}
    assert flaky.starts == [0]


def test_what_lost_a_race_while_it_waited_is_not_attempted_again() -> None:
    flaky, ended = Flaky(), []

    async def tries() -> str:
        return await flaky()

    async def wins() -> str:
        await anyio.sleep(1)
        return "first"

    async def goes_on(x: str) -> str:
        await anyio.sleep(20)
        return x

    with Flow("f") as f:
        slow = f.add(node(retries=Retry(1, backoff="fixed", first=10))(tries))
        f.output("o", f.add(goes_on, x=race(slow.out, f.add(wins).out)).out)

    async def main() -> Result:
        result = await f.run()
        ended.append(trio.current_time() - flaky.times[0])
        return result

    result = jumping(main)
    assert result["o"] == "first"
    assert states_of(result)["tries"] == "cancelled"
    assert (flaky.starts, ended) == ([0], [21])


def test_a_wait_holds_no_slot() -> None:
    order: list[str] = []

    async def tries() -> None:
        order.append("tries")
        if len(order) == 1:
            raise ValueError("no")

    async def other() -> None:
        order.append("other")

    with Flow("f") as f:
        f.add(node(retries=Retry(1, backoff="fixed"))(tries))
        f.add(other)
    jumping(f.using(max_concurrency=1).run)
    assert order == ["tries", "other", "tries"]


def test_no_attempt_follows_whose_wait_would_pass_the_deadline() -> None:
    flaky = Flaky()
    retry = Retry(9, backoff="exponential")
    with pytest.raises(RunFailed) as failed:
        jumping(flaky.flow(retries=retry, deadline=5).run)
    assert flaky.starts == [0, 1, 3]
    assert states_of(failed.value.result) == {"flaky": "failed"}


def test_a_deadline_counts_from_the_first_start_with_the_waits() -> None:
    began: list[float] = []

    async def main() -> float:
        async def slow() -> None:
            began.append(trio.current_time())
            if len(began) == 1:
                raise ValueError("no")
            await anyio.sleep_forever()

        with Flow("f") as f:
            f.add(node(retries=Retry(5, backoff="fixed"), deadline=4)(slow))
        with pytest.raises(RunFailed, match=r"DF0802 .*deadline of 4 s"):
            await f.run()
        return trio.current_time() - began[0]

    assert jumping(main) == 4
    assert len(began) == 2


def test_a_run_that_takes_too_long_ends_at_its_time() -> None:
    async def main() -> float:
        begun = trio.current_time()
        flow = Flaky().flow(retries=Retry(99, backoff="fixed", first=7))
        with pytest.raises(RunFailed, match=r"DF0802 f: .*timeout of 60 s") as failed:
            await flow.using(timeout=60).run()
        assert isinstance(failed.value.__cause__, TimeoutError)
        assert states_of(failed.value.result) == {"flaky": "cancelled"}
        return trio.current_time() - begun

    assert jumping(main) == 60


def test_a_run_that_ends_in_time_does_not_wait_for_its_timeout() -> None:
    async def main() -> float:
        begun = trio.current_time()
        await Flaky(1).flow(retries=Retry(1, backoff="fixed")).using(timeout=60).run()
        return trio.current_time() - begun

    assert jumping(main) == 1


async def test_a_node_that_cancels_itself_is_not_attempted_again() -> None:
    flaky = Flaky(error=RuntimeError("not this one"))

    async def cancels_itself() -> None:
        flaky.times.append(0)
        raise asyncio.CancelledError

    with Flow("f") as f:
        f.add(node(retries=3)(cancels_itself))
    with pytest.raises(RunFailed):
        await f.run()
    assert len(flaky.times) == 1


async def test_what_is_no_exception_is_not_attempted_again() -> None:
    times: list[int] = []

    async def exits() -> None:
        times.append(1)
        raise SystemExit(3)

    with Flow("f") as f:
        f.add(node(retries=3)(exits))
    with pytest.raises(SystemExit):
        await f.run()
    assert times == [1]
