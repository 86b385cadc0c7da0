"""Flows as nodes of flows: ports, paths, failures, attempts, deadlines (S1.1, S2.2, S7.3, S9)."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from anyio import Event

from dataflow import Failure, Firing, Flow, FlowInvalid, NodeState, NodeTimeout, Retry, fallback, flow, race
from tests.behaviour.nodes import add, fails, forever, gated, ident, inc, nothing, src, tallying
from tests.behaviour.table import cancelled, failed_run, play, states_of
from tests.support.codes import codes
from tests.support.steady import set_forward


class Pair(NamedTuple):
    low: int
    high: int


@flow
def twice(f: Flow, x: int, by: int = 1) -> int:
    return f.add(add, f.add(add, x, by).out, by).out


@flow
def around(f: Flow, x: int) -> Pair:
    return Pair(f.add(add, x, -1).out, f.add(inc, x).out)


@flow
def broken(f: Flow) -> int:
    return f.add(fails).out


async def shown(value: object) -> str:
    return f"{value.type} at {value.path}" if isinstance(value, Failure) else str(value)


def plain(name: str = "plain") -> Flow:
    with Flow(name) as f:
        f.output("y", f.add(inc, x=f.input("x", int)).out)
    return f


async def test_inputs_and_outputs_are_the_ports() -> None:
    with Flow() as f:
        first = f.add(twice, f.input("x", int), by=10)
        second = f.add(around, x=first.out)
        f.output("o", f.add(plain(), x=second.out.low).out.y)
        f.output("high", second.out.high)
    played = await play(f, {"x": 1})
    assert played.result.outputs == {"o": 21, "high": 22}
    assert played.tally.paths == ["twice/add", "twice/add_2", "around/add", "around/inc", "plain/inc"]
    assert set(played.result.states.values()) == {NodeState.DONE}
    assert await plain()(x=1) == {"y": 2}  # called like a function it gives its outputs
    with Flow() as f:
        f.output("default", f.add(twice, 5).out)
        f.output("skipped", f.add(twice, 5, by=f.add(nothing).out).out)
        f.output("named", f.add(twice.with_(name="here"), 1).out)
        f.output("off", fallback(f.add(twice.with_(name="off", enabled=False), 1).out, 0))
    result = await f.run()
    assert result.outputs == {"default": 7, "skipped": 7, "named": 3, "off": 0}
    assert (states_of(result)["here"], states_of(result)["off"]) == ("done", "skipped")


async def test_an_output_that_was_skipped_is_a_skip_of_the_node() -> None:
    with Flow("inner") as inner:
        inner.output("a", inner.add(nothing).out)
        inner.output("b", inner.add(src, 1).out)
    with Flow() as f:
        step = f.add(inner)
        f.output("a", fallback(step.out.a, 7))
        f.output("b", step.out.b)
        f.output("a itself", step.out.a)
    result = await f.run()
    assert result.outputs == {"a": 7, "b": 1}
    assert result.why("a itself").splitlines()[1:] == [
        "  because inner: the flow has left the output out",
        "  because inner/nothing: port 'out' not emitted",
    ]


async def test_a_failure_inside_is_the_nodes_and_so_the_runs_unless_it_is_handled() -> None:
    with Flow() as f:
        f.output("o", f.add(inc, f.add(broken).out).out)
    failed = await failed_run(f)
    assert [(one.path, one.message) for one in failed.failures] == [("broken/fails", "bad 0")]
    assert isinstance(failed.__cause__, ValueError)
    assert states_of(failed.result) == {"broken": "failed", "broken/fails": "failed", "inc": "not_run"}
    ways: tuple[tuple[dict[str, Any], int], ...] = (
        ({"on_error": "skip"}, -1),
        ({"on_error": "route"}, -1),
        ({"default": 9}, 9),
    )
    for settings, value in ways:
        with Flow() as f:
            f.output("o", fallback(f.add(broken.with_(**settings)).out, -1))
        assert (await f.run()).outputs == {"o": value}
    with Flow() as f:
        f.output("o", f.add(shown, f.add(broken).error).out)
    assert (await f.run()).outputs == {"o": "ValueError at broken/fails"}


async def after(a: object, b: object, c: object) -> list[object]:
    return [a, b, c]


def parallel(*, collecting: bool) -> Flow:
    """Wire B09: a ends, b fails behind it, c waits for ever, unless failures are collected."""

    async def a() -> str:
        return "A"

    async def b(first: str) -> str:
        raise KeyError("k")

    async def c() -> str:
        if not collecting:
            await forever()
        return "C"

    with Flow("parallel") as inner:
        first, third = inner.add(a), inner.add(c)
        inner.output("a", first.out)
        inner.output("b", inner.add(b, first.out).out)
        inner.output("c", third.out)
    with Flow("B09") as f:
        step = f.add(inner.with_(errors="collect") if collecting else inner)
        f.output("block", f.add(after, step.out.a, step.out.b, step.out.c).out)
    return f


async def test_one_branch_fails_and_the_finished_work_is_kept_or_failures_are_collected() -> None:
    """B09(i), B09(iii)"""
    failed = await failed_run(parallel(collecting=False))
    assert isinstance(failed.__cause__, KeyError)
    [failure] = failed.failures
    assert (failure.node, failure.type, failure.message) == ("b", "KeyError", "'k'")
    assert "test_flow_nodes.py" in failure.traceback
    assert states_of(failed.result) == {
        "parallel": "failed", "parallel/a": "done", "parallel/b": "failed", "parallel/c": "cancelled",
        "after": "not_run",
    }  # fmt: skip
    result = await parallel(collecting=True).run()
    a, b, c = result["block"]
    assert (a, b.node, b.type, b.message, c) == ("A", "b", "KeyError", "'k'", "C")
    assert states_of(result)["parallel"] == "done"


async def test_the_setting_for_errors_of_a_nested_flow_or_else_of_the_run_counts_in_its_frame() -> None:
    """S9.4: what is independent of the failure finishes inside, and only there."""
    gate = Event()

    async def opens() -> int:
        gate.set()
        raise ValueError("bad")

    with Flow("inner") as inner:
        inner.add(gated(gate, "late"), x=1)
        inner.add(opens)
    with Flow() as f:
        f.add(inner.using(errors="continue"))
        f.add(forever, x=1)
    assert states_of((await failed_run(f)).result) == {
        "inner": "failed", "inner/late": "done", "inner/opens": "failed", "forever": "cancelled",
    }  # fmt: skip
    with Flow("inner") as inner:
        inner.add(fails)
        inner.output("y", inner.add(inc, inner.add(inc, 1).out).out)
    with Flow() as f:
        f.add(inner)
    failed = await failed_run(f.using(errors="continue"))
    assert states_of(failed.result)["inner/inc_2"] == "done"


async def test_a_flow_node_that_loses_a_race_is_cancelled_with_all_inside() -> None:
    with Flow("inner") as inner:
        inner.output("y", inner.add(inc, inner.add(forever, 1).out).out)
    with Flow() as f:
        f.output("o", race(f.add(inner).out.y, f.add(src, 3).out))
    result = await f.run()
    assert result.outputs == {"o": 3}
    assert states_of(result) == {
        "inner": "cancelled", "inner/forever": "cancelled", "inner/inc": "not_run", "src": "done",
    }  # fmt: skip


async def test_problems_of_a_nested_flow_are_those_of_the_flow_around_it() -> None:
    """Also when it changes: it is compiled again."""
    inner = plain("inner")
    with Flow() as f:
        f.output("o", f.add(inner, x=1).out.y)
    assert (await f.run()).outputs == {"o": 2}
    inner.add(ident, 5)
    assert "inner/ident" in (await f.run()).states
    inner.input("needed", int)
    assert codes(f.check()) == ["DF0301 inner.needed"]
    inner.add(src)  # type: ignore[call-arg]  # what the test is about
    assert codes(f.check()) == ["DF0301 inner/src.x"]
    with pytest.raises(FlowInvalid):
        await f.run()
    first, second = Flow("first"), Flow("second")
    second.add(first)
    first.add(second)
    assert codes(first.check()) == ["DF0206 second"]


async def test_each_failure_behind_an_output_counts_as_collected_and_no_other() -> None:
    with Flow("inner") as inner:
        inner.output("y", inner.add(add, inner.add(fails, 1).out, inner.add(fails, 2).out).out)
    with Flow() as f:
        f.output("o", f.add(shown, f.add(inner.with_(errors="collect")).out.y).out)
    assert (await f.run()).outputs == {"o": "ValueError at inner/fails"}
    with Flow("inner") as inner:
        inner.output("y", inner.add(src, 1).out)
        inner.add(fails)
    with Flow() as f:
        f.output("o", f.add(shown, f.add(inner.with_(errors="collect")).out.y).out)
    assert [failure.path for failure in (await failed_run(f)).failures] == ["inner/fails"]
    f = Flow()  # the type of a port that may hold a failure says so
    f.add(inc, x=f.add(plain().with_(errors="collect"), x=1).out.y)
    assert codes(f.check()) == ["DF0308 inc.x"]


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


def attempted(inner: Flow, **settings: Any) -> Flow:
    with Flow() as f:
        f.output("o", f.add(inner.with_(**settings), x=1).out.y)
    return f


async def test_each_attempt_is_a_new_frame_with_its_number_in_the_path() -> None:
    seen: list[tuple[str, int]] = []

    def before(firing: Firing) -> None:
        seen.append((firing.path, firing.attempt))

    played = await play(attempted(flaky(2), retries=Retry(2, before=before)))
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
    failed = await failed_run(attempted(flaky(5), retries=1))
    assert [(one.path, one.message) for one in failed.failures] == [("inner~2/shaky", "3 left")]
    with Flow() as f:
        f.output("o", fallback(f.add(flaky(5).with_(retries=1, on_error="skip"), x=1).out.y, 0))
    assert (await f.run()).outputs == {"o": 0}

    def before(firing: Firing) -> None:
        raise KeyError("before")

    failed = await failed_run(attempted(flaky(2), retries=Retry(2, before=before)))
    assert failed.failures[0].message == "'before'"


async def test_the_failure_inside_decides_whether_there_is_another_attempt() -> None:
    patterns: tuple[tuple[Any, int], ...] = (
        ((ValueError,), 3), ((KeyError,), 1), (("left",), 3), (("nothing",), 1),
    )  # fmt: skip
    for on, attempts in patterns:
        with tallying() as tally:
            await failed_run(attempted(flaky(9), retries=Retry(2, on=on)))
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
        failed = await failed_run(attempted(sleeper(), **given))
        assert isinstance(failed.__cause__, NodeTimeout)
        [failure] = failed.failures
        assert (failure.node, failure.path, failure.attempt) == ("inner", "inner", attempts)
        last = "inner" if attempts == 1 else f"inner~{attempts}"
        expected = {"inner": "timed_out"}
        expected |= {f"{last}/inc": "done", f"{last}/sleeps": "cancelled", f"{last}/inc_2": "not_run"}
        assert expected.items() <= states_of(failed.result).items()


async def test_the_flows_own_timeout_counts_unless_the_node_has_one() -> None:
    assert (await failed_run(attempted(sleeper().using(timeout=90)))).failures[0].path == "inner"
    with Flow() as f:
        f.output("o", fallback(f.add(sleeper().using(timeout=90).with_(on_error="skip"), x=1).out.y, 5))
    result = await f.run()
    assert (result.outputs, states_of(result)["inner"]) == ({"o": 5}, "timed_out")
    result = await attempted(flaky(1), retries=1, timeout=3600, deadline=3600).run()  # it ends in time
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
