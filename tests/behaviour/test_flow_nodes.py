"""Flows as nodes of flows: ports, paths, failures, what is collected (S1.1, S2.2, S7.3, S9.4)."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from anyio import Event, sleep_forever
from anyio.lowlevel import checkpoint

from dataflow import (
    SKIP,
    Failure,
    Flow,
    FlowInvalid,
    Maybe,
    NodeState,
    RunFailed,
    collect,
    each,
    fallback,
    flow,
    merge,
    node,
    race,
)
from tests.behaviour.nodes import add, fails, fails_on_odd, ident, inc, nothing, src
from tests.behaviour.table import play, states_of
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
        third = f.add(plain(), x=second.out.low)
        f.output("o", third.out.y)
        f.output("high", second.out.high)
    played = await play(f, {"x": 1})
    assert played.result.outputs == {"o": 21, "high": 22}
    assert played.tally.paths == ["twice/add", "twice/add_2", "around/add", "around/inc", "plain/inc"]
    assert set(played.result.states.values()) == {NodeState.DONE}


async def test_an_input_with_a_default_need_not_be_wired() -> None:
    with Flow() as f:
        f.output("o", f.add(twice, 5).out)
        f.output("skipped", f.add(twice, 5, by=f.add(nothing).out).out)
    assert (await f.run()).outputs == {"o": 7, "skipped": 7}


async def test_a_flow_stands_in_each_item_and_round_with_a_frame_of_its_own() -> None:
    with Flow() as f:
        items = f.add(twice, x=each(f.input("xs", list[int])))
        with f.loop(limit=2) as it:
            carried = it.carry(0)
            carried.next(f.add(twice, x=carried.out).out)
        f.output("items", collect(items.out))
        f.output("looped", carried.final)
    played = await play(f, {"xs": [1, 2]})
    assert played.result.outputs == {"items": [3, 4], "looped": 4}
    assert sorted(played.tally.paths) == [
        "loop[0]/twice_2/add", "loop[0]/twice_2/add_2", "loop[1]/twice_2/add", "loop[1]/twice_2/add_2",
        "twice[0]/add", "twice[0]/add_2", "twice[1]/add", "twice[1]/add_2",
    ]  # fmt: skip


async def test_flows_nest_at_any_depth() -> None:
    inner: Flow = plain("level0")
    for level in range(1, 20):
        with Flow(f"level{level}") as outer:
            outer.output("y", outer.add(inner, x=outer.input("x", int)).out.y)
        inner = outer
    result = await inner.run(x=1)
    assert result.outputs == {"y": 2}
    assert "/".join(f"level{level}" for level in range(18, -1, -1)) + "/inc" in result.states


async def test_a_node_is_named_and_disabled_like_any_other() -> None:
    with Flow() as f:
        named = f.add(twice.with_(name="here"), 1)
        off = f.add(twice.with_(enabled=False), 1)
        f.output("o", named.out)
        f.output("off", fallback(off.out, 0))
    result = await f.run()
    assert result.outputs == {"o": 3, "off": 0}
    assert states_of(result)["here"] == "done"
    assert states_of(result)["twice"] == "skipped"


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


async def test_a_failure_inside_is_the_nodes_and_so_the_runs() -> None:
    with Flow("inner") as inner:
        inner.output("y", inner.add(fails, x=inner.input("x", int)).out)
    with Flow() as f:
        f.output("o", f.add(inc, f.add(inner, x=3).out.y).out)
    with pytest.raises(RunFailed) as raised:
        await f.run()
    assert [(one.path, one.message) for one in raised.value.failures] == [("inner/fails", "bad 3")]
    assert isinstance(raised.value.__cause__, ValueError)
    assert states_of(raised.value.result) == {"inner": "failed", "inner/fails": "failed", "inc": "not_run"}


@pytest.mark.parametrize(
    ("settings", "outputs"),
    [
        ({"on_error": "skip"}, {"o": -1, "error": "none"}),
        ({"on_error": "route"}, {"o": -1, "error": "none"}),
        ({"default": 9}, {"o": 9, "error": "none"}),
    ],
)
async def test_the_nodes_own_settings_handle_it(settings: dict[str, Any], outputs: dict[str, Any]) -> None:
    @flow
    def broken(f: Flow) -> int:
        return f.add(fails).out

    with Flow() as f:
        f.output("o", fallback(f.add(broken.with_(**settings)).out, -1))
        f.output("error", "none")
    assert (await f.run()).outputs == outputs


async def test_the_failure_is_read_from_the_nodes_error_port() -> None:
    @flow
    def broken(f: Flow) -> int:
        return f.add(fails).out

    with Flow() as f:
        f.output("o", f.add(shown, f.add(broken).error).out)
    assert (await f.run()).outputs == {"o": "ValueError at broken/fails"}


async def after(a: object, b: object, c: object) -> list[object]:
    return [a, b, c]


def parallel(*, collecting: bool) -> Flow:
    """Wire B09: a at once, b fails behind it, c waits for ever, unless failures are collected."""

    async def a() -> str:
        return "A"

    async def b(first: str) -> str:
        raise KeyError("k")

    async def c() -> str:
        if not collecting:
            await sleep_forever()
        return "C"

    with Flow("parallel") as inner:
        first = inner.add(a)
        third = inner.add(c)
        inner.output("a", first.out)
        inner.output("b", inner.add(b, first.out).out)
        inner.output("c", third.out)
    with Flow("B09") as f:
        step = f.add(inner.with_(errors="collect") if collecting else inner)
        f.output("block", f.add(after, step.out.a, step.out.b, step.out.c).out)
    return f


async def test_one_branch_fails_and_the_finished_work_is_kept() -> None:
    """B09(i)"""
    with pytest.raises(RunFailed) as raised:
        await parallel(collecting=False).run()
    assert isinstance(raised.value.__cause__, KeyError)
    [failure] = raised.value.failures
    assert (failure.node, failure.type, failure.message) == ("b", "KeyError", "'k'")
    assert "test_flow_nodes.py" in failure.traceback
    assert states_of(raised.value.result) == {
        "parallel": "failed", "parallel/a": "done", "parallel/b": "failed", "parallel/c": "cancelled",
        "after": "not_run",
    }  # fmt: skip


async def test_failures_are_collected_in_place_of_the_outputs() -> None:
    """B09(iii)"""
    result = await parallel(collecting=True).run()
    a, b, c = result["block"]
    assert (a, c) == ("A", "C")
    assert (b.node, b.type, b.message) == ("b", "KeyError", "'k'")
    assert states_of(result)["parallel"] == "done"


async def test_a_failure_that_no_output_shows_is_not_lost() -> None:
    with Flow("inner") as inner:
        inner.output("y", inner.add(src, 1).out)
        inner.add(fails)
    with Flow() as f:
        f.output("o", f.add(shown, f.add(inner.with_(errors="collect")).out.y).out)
    with pytest.raises(RunFailed, match="inner/fails"):
        await f.run()


async def test_each_failure_behind_one_output_counts_as_collected() -> None:
    with Flow("inner") as inner:
        inner.output("y", inner.add(add, inner.add(fails, 1).out, inner.add(fails, 2).out).out)
    with Flow() as f:
        f.output("o", f.add(shown, f.add(inner.with_(errors="collect")).out.y).out)
    assert (await f.run()).outputs == {"o": "ValueError at inner/fails"}


async def test_a_port_that_may_hold_a_failure_has_a_type_that_says_so() -> None:
    f = Flow()
    f.add(inc, x=f.add(plain().with_(errors="collect"), x=1).out.y)
    assert codes(f.check()) == ["DF0308 inc.x"]


async def test_a_nested_flows_own_setting_counts_in_its_frame() -> None:
    """S9.4: what is independent of the failure finishes inside, and only there."""
    gate = Event()

    async def late() -> int:
        await gate.wait()
        return 1

    async def opens() -> int:
        gate.set()
        raise ValueError("bad")

    with Flow("inner") as inner:
        inner.add(late)
        inner.add(opens)
    with Flow() as f:
        f.add(inner.using(errors="continue"))
        f.add(sleeps)
    with pytest.raises(RunFailed) as raised:
        await f.run()
    assert states_of(raised.value.result) == {
        "inner": "failed", "inner/late": "done", "inner/opens": "failed", "sleeps": "cancelled",
    }  # fmt: skip


async def sleeps() -> int:
    await sleep_forever()
    return 1


async def test_without_a_setting_the_runs_counts() -> None:
    with Flow("inner") as inner:
        inner.add(fails)
        inner.output("y", inner.add(inc, inner.add(inc, 1).out).out)
    with Flow() as f:
        f.add(inner)
    with pytest.raises(RunFailed) as raised:
        await f.using(errors="continue").run()
    assert states_of(raised.value.result)["inner/inc_2"] == "done"


async def test_a_flow_node_that_loses_a_race_is_cancelled_with_all_inside() -> None:
    with Flow("inner") as inner:
        inner.output("y", inner.add(inc, inner.add(sleeps).out).out)
    with Flow() as f:
        f.output("o", race(f.add(inner).out.y, f.add(src, 3).out))
    result = await f.run()
    assert result.outputs == {"o": 3}
    assert states_of(result) == {
        "inner": "cancelled", "inner/sleeps": "cancelled", "inner/inc": "not_run", "src": "done",
    }  # fmt: skip


async def test_values_are_copied_on_their_way_in_and_out() -> None:
    async def spoil(xs: list[int]) -> list[int]:
        xs.append(0)
        return xs

    with Flow("inner") as inner:
        xs = inner.input("xs", list[int])
        inner.output("spoilt", inner.add(spoil, xs).out)
        inner.output("xs", inner.add(ident, xs).out)
    with Flow() as f:
        given = f.input("xs", list[int])
        step = f.add(inner, xs=given)
        f.output("inside", step.out.xs)
        f.output("outside", f.add(ident, given).out)
        f.output("spoilt", f.add(spoil, step.out.spoilt).out)
        f.output("first", step.out.spoilt)
    assert (await f.run(xs=[1])).outputs == {
        "inside": [1], "outside": [1], "spoilt": [1, 0, 0], "first": [1, 0],
    }  # fmt: skip


def test_the_problems_of_a_nested_flow_are_those_of_the_flow_around_it() -> None:
    inner = Flow("inner")
    inner.add(inc)  # type: ignore[call-arg]  # what the test is about
    outer = Flow("outer")
    outer.add(inner)
    assert codes(outer.check()) == ["DF0301 inner/inc.x"]


async def test_a_nested_flow_that_changes_is_compiled_again() -> None:
    inner = plain("inner")
    with Flow() as f:
        step = f.add(inner, x=1)
        f.output("o", step.out.y)
    assert (await f.run()).outputs == {"o": 2}
    inner.add(ident, 5)
    assert "inner/ident" in (await f.run()).states
    inner.input("needed", int)
    assert codes(f.check()) == ["DF0301 inner.needed"]
    with pytest.raises(FlowInvalid):
        await f.run()


def test_flows_that_would_contain_one_another_are_refused() -> None:
    first, second = Flow("first"), Flow("second")
    second.add(first)
    first.add(second)
    assert codes(first.check()) == ["DF0206 second"]


async def test_sure_outputs_of_a_flow_are_sure() -> None:
    """S5.2: two of them on one port are refused, and one that may be left out is not."""

    async def odd(x: int) -> Maybe[int]:
        return x if x % 2 else SKIP

    f = Flow()
    f.connect("twice", "inc.x")
    f.connect("plain.y", "inc.x")
    f.add(twice, 1)
    f.add(plain(), x=1)
    f.add(inc)  # type: ignore[call-arg]  # it is wired by edges
    assert codes(f.check()) == ["DF0307 inc.x"]
    with Flow("maybe") as maybe:
        maybe.output("y", maybe.add(odd, maybe.input("x", int)).out)
    f = Flow()
    f.connect("twice", "inc.x")
    f.connect("maybe.y", "inc.x")
    f.add(twice, 1)
    f.add(maybe, x=1)
    f.add(inc)  # type: ignore[call-arg]  # it is wired by edges
    assert f.check() == []


async def test_called_by_itself_a_flow_gives_its_outputs() -> None:
    assert await plain()(x=1) == {"y": 2}


async def test_many_runs_share_one_nested_flow() -> None:
    with Flow() as f:
        f.output("o", collect(f.add(fails_on_odd, f.add(twice, each(f.input("xs", list[int]))).out).out))
    for xs in ([0, 2], [4], []):
        assert (await f.run(xs=xs)).outputs == {"o": [x + 2 for x in xs]}


async def test_merge_takes_what_a_flow_gives() -> None:
    with Flow() as f:
        f.output("o", merge(f.add(plain(), x=1).out.y, 5))
    assert (await f.run()).outputs == {"o": 2}


def test_flows_that_are_nested_too_deep_are_refused() -> None:
    inner = plain("level0")
    for level in range(1, 101):
        outer = Flow(f"level{level}")
        outer.output("y", outer.add(inner, x=outer.input("x", int)).out.y)
        inner = outer
    assert inner.check() == []
    outer = Flow("one more")
    outer.add(inner, x=1)
    assert codes(outer.check()) == ["DF0207 level100"]


async def test_flows_that_share_flows_cost_what_they_hold() -> None:
    """Each of thirty flows holds the one before it twice; only one place of each is on the way of a run."""
    inner = Flow("level0")
    for level in range(1, 30):
        outer = Flow(f"level{level}")
        outer.add(inner.with_(enabled=False))
        outer.add(inner)
        inner = outer
    result = await inner.run()
    assert len(result.states) == 58


async def test_a_limit_of_a_nested_flow_holds_for_all_its_places() -> None:
    """S15.1: a number is a limit of each run."""
    in_flight = [0, 0]

    async def work() -> int:
        in_flight[0] += 1
        in_flight[1] = max(in_flight)
        for _ in range(5):
            await checkpoint()
        in_flight[0] -= 1
        return 1

    with Flow("inner") as inner:
        inner.output("out", inner.add(node(work).with_(limit="web")).out)
    limited = inner.using(limits={"web": 1})
    with Flow() as f:
        for _ in range(3):
            f.add(limited)
    await f.run()
    assert in_flight == [0, 1]
