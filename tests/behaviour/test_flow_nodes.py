"""Flows as nodes of flows: ports, paths, failures, what is collected (S1.1, S2.2, S7.3, S9.4)."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from anyio import Event

from dataflow import Failure, Flow, FlowInvalid, NodeState, fallback, flow, race
from tests.behaviour.nodes import add, fails, forever, gated, ident, inc, nothing, src
from tests.behaviour.table import failed_run, play, states_of
from tests.support.codes import codes


class Pair(NamedTuple):
    low: int
    high: int


@flow
def twice(f: Flow, x: int, by: int = 1) -> int:
    """Add `by` two times."""
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
