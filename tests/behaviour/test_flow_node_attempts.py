"""Attempts at flow nodes: frames of their own, waits, timeouts, deadlines (S7.3, S9.1, S9.2)."""

from __future__ import annotations

from typing import Any

import pytest
import trio.testing
from anyio import Event, sleep_forever

from dataflow import EventKind, Firing, Flow, NodeTimeout, Retry, RunFailed, collect, each, fallback, race
from tests.behaviour.nodes import Tally, inc, tallying
from tests.behaviour.table import play, states_of
from tests.support.clocks import set_forward


def flaky(failures: int) -> Flow:
    """Wire a flow whose last node fails so many times, in a run that this flow is wired for."""
    left = [failures]

    async def shaky(x: int) -> int:
        if left[0]:
            left[0] -= 1
            raise ValueError(f"{left[0]} left")
        return x

    with Flow("inner") as inner:
        inner.output("y", inner.add(shaky, inner.add(inc, inner.input("x", int)).out).out)
    return inner


def around(inner: Flow, **settings: Any) -> Flow:
    with Flow() as f:
        f.output("o", f.add(inner.with_(**settings), x=1).out.y)
    return f


async def test_each_attempt_is_a_new_frame_with_its_number_in_the_path() -> None:
    played = await play(around(flaky(2), retries=2), {})
    assert played.result.outputs == {"o": 2}
    assert played.tally.paths == ["inner/inc", "inner~2/inc", "inner~3/inc"]
    assert states_of(played.result) == {
        "inner": "done",
        "inner/inc": "done", "inner/shaky": "failed",
        "inner~2/inc": "done", "inner~2/shaky": "failed",
        "inner~3/inc": "done", "inner~3/shaky": "done",
    }  # fmt: skip
    told = [
        (event.kind.value, event.data["attempt"])
        for event in played.events
        if event.path == "inner" and "attempt" in event.data
    ]
    assert told == [
        ("node_started", 1), ("attempt_failed", 1), ("node_started", 2), ("attempt_failed", 2),
        ("node_started", 3),
    ]  # fmt: skip


async def test_after_the_last_attempt_the_failure_is_the_nodes() -> None:
    with pytest.raises(RunFailed) as raised:
        await around(flaky(5), retries=1).run()
    assert [(one.path, one.message) for one in raised.value.failures] == [("inner~2/shaky", "3 left")]
    with Flow() as f:
        f.output("o", fallback(f.add(flaky(5).with_(retries=1, on_error="skip"), x=1).out.y, 0))
    assert (await f.run()).outputs == {"o": 0}


@pytest.mark.parametrize(
    ("on", "attempts"), [((ValueError,), 3), ((KeyError,), 1), (("left",), 3), (("nothing",), 1)]
)
async def test_what_is_attempted_again_is_told_by_the_failure_inside(on: Any, attempts: int) -> None:
    with tallying() as tally, pytest.raises(RunFailed):
        await around(flaky(9), retries=Retry(2, on=on)).run()
    assert len(tally.paths) == attempts


def test_waits_between_attempts_are_as_for_calls() -> None:
    waits: list[float] = []

    async def run() -> Tally:
        f = around(flaky(3), retries=Retry(3, backoff="exponential", first=10))
        with tallying() as tally:
            async with f.start() as started:
                failed = [e async for e in started.events() if e.kind is EventKind.ATTEMPT_FAILED]
                waits.extend(event.data["delay"] for event in failed)
                assert (await started)["o"] == 2
        return tally

    clock = trio.testing.MockClock(autojump_threshold=0)
    tally = trio.run(run, clock=clock)
    assert waits == [10, 20, 40]
    assert len(tally.paths) == 4


async def test_before_is_called_before_each_extra_attempt() -> None:
    seen: list[tuple[str, int]] = []

    def before(firing: Firing) -> None:
        seen.append((firing.path, firing.attempt))

    await around(flaky(2), retries=Retry(2, before=before)).run()
    assert seen == [("inner", 2), ("inner", 3)]


async def test_what_before_raises_is_the_failure() -> None:
    def before(firing: Firing) -> None:
        raise KeyError("before")

    with pytest.raises(RunFailed, match="before"):
        await around(flaky(2), retries=Retry(2, before=before)).run()


def sleeper() -> Flow:
    """Wire a flow with two nodes that never end: when both have begun, two minutes have passed."""

    async def sleeps(x: int) -> int:
        set_forward(60)
        await sleep_forever()
        return x

    with Flow("inner") as inner:
        inner.output("y", inner.add(sleeps, inner.add(inc, inner.input("x", int)).out).out)
        inner.add(inc, inner.add(sleeps, x=1).out)
    return inner


@pytest.mark.parametrize(
    ("settings", "attempts"),
    [({"timeout": 90}, 1), ({"timeout": 90, "retries": 2}, 3), ({"deadline": 90, "retries": 2}, 1)],
)
async def test_a_flow_node_that_takes_too_long_is_timed_out(settings: dict[str, Any], attempts: int) -> None:
    with pytest.raises(RunFailed) as raised:
        await around(sleeper(), **settings).run()
    assert isinstance(raised.value.__cause__, NodeTimeout)
    [failure] = raised.value.failures
    assert (failure.node, failure.path, failure.attempt) == ("inner", "inner", attempts)
    states = states_of(raised.value.result)
    last = "inner" if attempts == 1 else f"inner~{attempts}"
    assert states["inner"] == "timed_out"
    assert states[f"{last}/inc"] == "done"
    assert states[f"{last}/sleeps"] == "cancelled"
    assert states[f"{last}/inc_2"] == "not_run"


async def test_the_flows_own_timeout_counts_unless_the_node_has_one() -> None:
    with pytest.raises(RunFailed, match="inner"):
        await around(sleeper().using(timeout=90)).run()
    with Flow() as f:
        f.output("o", fallback(f.add(sleeper().using(timeout=90).with_(on_error="skip"), x=1).out.y, 5))
    result = await f.run()
    assert result.outputs == {"o": 5}
    assert states_of(result)["inner"] == "timed_out"


async def test_an_attempt_that_ends_in_time_is_not_timed_out() -> None:
    f = around(flaky(1), retries=1, timeout=3600, deadline=3600)
    result = await f.run()
    assert result.outputs == {"o": 2}
    assert states_of(result)["inner"] == "done"


@pytest.mark.parametrize("how", ["cancelled", "race"])
async def test_a_flow_node_that_waits_for_its_next_attempt_can_be_stopped(how: str) -> None:
    failed = Event()

    async def bad(x: int) -> int:
        failed.set()
        raise ValueError("bad")

    async def wins(x: int) -> int:
        await failed.wait()
        return x

    with Flow("inner") as inner:
        inner.output("y", inner.add(bad, inner.input("x", int)).out)
    with Flow() as f:
        waiting = f.add(inner.with_(retries=Retry(5, backoff="fixed", first=3600)), x=1)
        f.output("o", race(waiting.out.y, f.add(wins, x=2).out) if how == "race" else waiting.out.y)
    async with f.start() as run:
        if how == "cancelled":
            await failed.wait()
            run.cancel()
        result = await run
    assert result.outputs == ({"o": 2} if how == "race" else {})
    assert states_of(result)["inner"] == "cancelled"


async def test_a_failure_of_the_frame_around_ends_the_attempt_as_cancelled() -> None:
    async def bad() -> int:
        raise ValueError("bad")

    with Flow() as f:
        f.add(sleeper().with_(timeout=3600, retries=3), x=1)
        f.add(bad)
    with pytest.raises(RunFailed) as raised:
        await f.run()
    states = states_of(raised.value.result)
    assert states["inner"] == "cancelled"
    assert "inner~2" not in str(states)


async def test_flow_nodes_in_items_have_attempts_of_their_own() -> None:
    seen: dict[int, int] = {}

    async def second(x: int) -> int:
        seen[x] = seen.get(x, 0) + 1
        if seen[x] < 2:
            raise ValueError(f"first {x}")
        return x

    with Flow("inner") as inner:
        inner.output("out", inner.add(second, inner.input("x", int)).out)
    with Flow() as f:
        f.output("o", collect(f.add(inner.with_(retries=1), x=each([1, 2, 3])).out))
    result = await f.run()
    assert result.outputs == {"o": [1, 2, 3]}
    assert seen == {1: 2, 2: 2, 3: 2}
    assert states_of(result)["inner[1]~2/second"] == "done"


async def test_a_failed_attempt_leaves_nothing_behind() -> None:
    """S7.3: values of the failed attempt are in no output, whichever node failed."""
    values: list[int] = []

    async def counts(x: int) -> int:
        values.append(len(values))
        return values[-1]

    async def fails_first(x: int) -> int:
        if x == 0:
            raise ValueError("first")
        return x

    with Flow("inner") as inner:
        counted = inner.add(counts, inner.input("x", int))
        inner.output("counted", counted.out)
        inner.output("y", inner.add(fails_first, counted.out).out)
    with Flow() as f:
        step = f.add(inner.with_(retries=1), x=1)
        f.output("counted", step.out.counted)
        f.output("y", step.out.y)
    assert (await f.run()).outputs == {"counted": 1, "y": 1}
