"""Retry counts and waiting times, on a clock that jumps (S9.1); what an attempt may know."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
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
    Firing,
    Flow,
    NodeFailed,
    Result,
    Retry,
    RunFailed,
    node,
    race,
    this_firing,
    threaded,
)
from tests.behaviour.flow_parts import Point
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


def test_the_record_lists_every_attempt_with_its_error_and_start() -> None:
    flaky = Flaky(2)
    events, result = jumping(partial(events_of, flaky.flow(retries=Retry(2, backoff="exponential"))))
    told = [(one.kind, one.data.get("attempt"), one.data.get("delay")) for one in events[1:-1]]
    assert told == [
        (EventKind.NODE_STARTED, 1, None),
        (EventKind.ATTEMPT_FAILED, 1, 1.0),
        (EventKind.NODE_STARTED, 2, None),
        (EventKind.ATTEMPT_FAILED, 2, 2.0),
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


def test_a_wait_for_what_lost_a_race_ends_at_once() -> None:
    flaky, ended = Flaky(), []

    async def tries() -> str:
        return await flaky()

    async def wins() -> str:
        await anyio.sleep(1)
        return "first"

    with Flow("f") as f:
        slow = f.add(node(retries=Retry(1, backoff="fixed", first=3_600))(tries))
        f.output("o", race(slow.out, f.add(wins).out))

    async def main() -> Result:
        result = await f.run()
        ended.append(trio.current_time() - flaky.times[0])
        return result

    result = jumping(main)
    assert result["o"] == "first"
    assert states_of(result)["tries"] == "cancelled"
    assert (flaky.starts, ended) == ([0], [1])


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
        with pytest.raises(RunFailed, match="its deadline of 4 s"):
            await f.run()
        return trio.current_time() - began[0]

    assert jumping(main) == 4
    assert len(began) == 2


def test_a_run_that_takes_too_long_ends_at_its_time() -> None:
    async def main() -> float:
        begun = trio.current_time()
        flow = Flaky().flow(retries=Retry(99, backoff="fixed", first=7))
        with pytest.raises(RunFailed, match="flow 'f' took longer than its timeout of 60 s") as failed:
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


async def test_before_is_called_before_each_extra_attempt_and_told_which() -> None:
    told: list[Firing] = []
    flaky = Flaky(2)
    result = await flaky.flow(retries=Retry(3, before=told.append)).run()
    assert [(one.path, one.attempt, one.run_id) for one in told] == [
        ("flaky", 2, result.run_id),
        ("flaky", 3, result.run_id),
    ]


async def test_what_before_raises_is_the_failure_of_the_node() -> None:
    def before(_: Firing) -> None:
        raise LookupError("no cache")

    flaky = Flaky()
    with pytest.raises(RunFailed) as failed:
        await flaky.flow(retries=Retry(3, before=before)).run()
    assert [(one.type, one.attempt) for one in failed.value.failures] == [("LookupError", 2)]
    assert len(flaky.times) == 1


async def test_arguments_that_do_not_fit_are_not_tried_again() -> None:
    async def gives() -> Any:
        return "text"

    async def takes(x: int) -> int:
        raise AssertionError("never called")

    with Flow("f") as f:
        f.add(node(retries=3)(takes), x=f.add(gives).out)
    with pytest.raises(RunFailed) as failed:
        await f.run()
    assert isinstance(failed.value.__cause__, NodeFailed)
    assert failed.value.failures[0].attempt == 1


async def test_a_firing_knows_its_attempt_and_a_key_that_stays() -> None:
    seen: list[Firing] = []

    async def tries() -> None:
        seen.append(this_firing())
        if len(seen) < 3:
            raise ValueError("no")

    with Flow("f") as f:
        f.add(node(retries=2)(tries))
    result = await f.run()
    assert [one.attempt for one in seen] == [1, 2, 3]
    assert {one.key for one in seen} == {f"{result.run_id}/tries"}


def test_outside_a_run_nothing_is_cancelled_and_there_is_no_key() -> None:
    assert (this_firing().cancelled(), this_firing().key, this_firing().attempt) == (False, "", 1)


async def test_pieces_of_a_failed_attempt_are_voided_and_those_of_the_next_stand() -> None:
    async def gives() -> AsyncIterator[int]:
        attempt = this_firing().attempt
        yield attempt
        if attempt == 1:
            raise ValueError("no")

    with Flow("f") as f:
        f.output("o", f.add(node(gives).with_(retries=1)).out)
    events, result = await events_of(f)
    told = [(one.kind, one.data.get("piece")) for one in events if one.path == "gives"]
    assert [one for one in told if one[0] in (EventKind.PIECE, EventKind.PIECES_VOID)] == [
        (EventKind.PIECE, 1),
        (EventKind.PIECES_VOID, None),
        (EventKind.PIECE, 2),
    ]
    assert result["o"] == [2]


async def test_pieces_of_a_node_that_fails_for_good_are_voided_too() -> None:
    async def gives() -> AsyncIterator[int]:
        yield 1
        raise ValueError("no")

    with Flow("f") as f:
        f.add(node(gives))
    events, _ = await events_of(f)
    kinds = [one.kind for one in events if one.path == "gives"]
    assert kinds == [
        EventKind.NODE_STARTED,
        EventKind.PIECE,
        EventKind.PIECES_VOID,
        EventKind.NODE_FINISHED,
    ]


async def test_a_piece_that_an_earlier_attempt_gives_late_is_dropped() -> None:
    first: list[Firing] = []

    async def gives() -> int:
        if not first:
            first.append(this_firing())
            raise ValueError("no")
        first[0].emit("late")
        this_firing().emit("now")
        return 1

    with Flow("f") as f:
        f.add(node(gives).with_(retries=1))
    events, _ = await events_of(f)
    assert [one.data["piece"] for one in events if one.kind is EventKind.PIECE] == ["now"]


async def test_blocking_code_is_attempted_again_like_any_other() -> None:
    attempts: list[int] = []

    def blocking() -> int:
        attempts.append(this_firing().attempt)
        if len(attempts) == 1:
            raise ValueError("no")
        return 7

    with Flow("f") as f:
        f.output("o", f.add(node(retries=1)(threaded(blocking))).out)
    assert (await f.run())["o"] == 7
    assert attempts == [1, 2]


async def test_a_result_that_does_not_fit_the_node_is_tried_again() -> None:
    times: list[int] = []

    async def unfit() -> Point:
        times.append(1)
        return Point(1, 2) if len(times) > 1 else "no point"  # type: ignore[return-value]  # on purpose

    with Flow("f") as f:
        f.output("o", f.add(node(unfit).with_(retries=1)).out)
    assert (await f.run())["o"] == Point(1, 2)
