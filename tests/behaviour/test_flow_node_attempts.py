"""Attempts at flow nodes: separate frames, waits, timeouts, deadlines (S7.3, S9.1, S9.2)."""

from __future__ import annotations

from typing import Any

from anyio import Event

from dataflow import Firing, Flow, NodeTimeout, Retry, fallback, race
from tests.behaviour.nodes import forever, gated, inc, tallying
from tests.behaviour.table import cancelled, failed_run, play, states_of
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
    seen: list[tuple[str, int]] = []

    def before(firing: Firing) -> None:
        seen.append((firing.path, firing.attempt))

    played = await play(around(flaky(2), retries=Retry(2, before=before)))
    assert (played.result.outputs, seen) == ({"o": 2}, [("inner", 2), ("inner", 3)])
    assert played.tally.paths == ["inner/inc", "inner~2/inc", "inner~3/inc"]
    assert states_of(played.result) == {
        "inner": "done",
        "inner/inc": "done", "inner/shaky": "failed",
        "inner~2/inc": "done", "inner~2/shaky": "failed",
        "inner~3/inc": "done", "inner~3/shaky": "done",
    }  # fmt: skip
    attempts = [e for e in played.events if e.path == "inner" and "attempt" in e.data]
    assert [(event.kind.value, event.data["attempt"]) for event in attempts] == [
        ("node_started", 1), ("attempt_failed", 1), ("node_started", 2), ("attempt_failed", 2),
        ("node_started", 3),
    ]  # fmt: skip


async def test_after_the_last_attempt_the_failure_is_the_nodes() -> None:
    failed = await failed_run(around(flaky(5), retries=1))
    assert [(one.path, one.message) for one in failed.failures] == [("inner~2/shaky", "3 left")]
    with Flow() as f:
        f.output("o", fallback(f.add(flaky(5).with_(retries=1, on_error="skip"), x=1).out.y, 0))
    assert (await f.run()).outputs == {"o": 0}

    def before(firing: Firing) -> None:
        raise KeyError("before")

    failed = await failed_run(around(flaky(2), retries=Retry(2, before=before)))
    assert failed.failures[0].message == "'before'"


async def test_the_failure_inside_decides_whether_there_is_another_attempt() -> None:
    patterns: tuple[tuple[Any, int], ...] = (
        ((ValueError,), 3),
        ((KeyError,), 1),
        (("left",), 3),
        (("nothing",), 1),
    )
    for on, attempts in patterns:
        with tallying() as tally:
            await failed_run(around(flaky(9), retries=Retry(2, on=on)))
        assert len(tally.paths) == attempts


def sleeper() -> Flow:
    """Wire a flow with two nodes that never end: when both have begun, two minutes have passed."""

    async def sleeps(x: int) -> int:
        set_forward(60)
        return await forever(x)

    with Flow("inner") as inner:
        inner.output("y", inner.add(sleeps, inner.add(inc, inner.input("x", int)).out).out)
        inner.add(inc, inner.add(sleeps, x=1).out)
    return inner


async def test_a_flow_node_that_takes_too_long_is_timed_out() -> None:
    settings: tuple[tuple[dict[str, Any], int], ...] = (
        ({"timeout": 90}, 1),
        ({"timeout": 90, "retries": 2}, 3),
        ({"deadline": 90, "retries": 2}, 1),
    )
    for given, attempts in settings:
        failed = await failed_run(around(sleeper(), **given))
        assert isinstance(failed.__cause__, NodeTimeout)
        [failure] = failed.failures
        assert (failure.node, failure.path, failure.attempt) == ("inner", "inner", attempts)
        last = "inner" if attempts == 1 else f"inner~{attempts}"
        expected = {"inner": "timed_out"}
        expected |= {f"{last}/inc": "done", f"{last}/sleeps": "cancelled", f"{last}/inc_2": "not_run"}
        assert expected.items() <= states_of(failed.result).items()


async def test_the_flows_own_timeout_counts_unless_the_node_has_one() -> None:
    assert (await failed_run(around(sleeper().using(timeout=90)))).failures[0].path == "inner"
    with Flow() as f:
        f.output("o", fallback(f.add(sleeper().using(timeout=90).with_(on_error="skip"), x=1).out.y, 5))
    result = await f.run()
    assert (result.outputs, states_of(result)["inner"]) == ({"o": 5}, "timed_out")
    result = await around(flaky(1), retries=1, timeout=3600, deadline=3600).run()  # it ends in time
    assert (result.outputs, states_of(result)["inner"]) == ({"o": 2}, "done")


async def test_a_flow_node_that_waits_for_its_next_attempt_can_be_stopped() -> None:
    for how in ("cancelled", "race"):
        failed = Event()

        async def bad(x: int, failed: Any = failed) -> int:
            failed.set()
            raise ValueError("bad")

        with Flow("inner") as inner:
            inner.output("y", inner.add(bad, inner.input("x", int)).out)
        with Flow() as f:
            waiting = f.add(inner.with_(retries=Retry(5, backoff="fixed", first=3600)), x=1).out.y
            f.output("o", race(waiting, f.add(gated(failed), x=2).out) if how == "race" else waiting)
        result = await (f.run() if how == "race" else cancelled(f, failed))
        assert result.outputs == ({"o": 2} if how == "race" else {})
        assert states_of(result)["inner"] == "cancelled"
