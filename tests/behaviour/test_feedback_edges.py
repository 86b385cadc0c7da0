"""Feedback edges: rounds of a flow that is a flat graph, and what leaves them (S6.3, S6.4)."""

from __future__ import annotations

from typing import Any

import pytest

from dataflow import SKIP, EventKind, Flow, FlowInvalid, Maybe, RunFailed, node
from tests.behaviour.nodes import add, fails_on_odd, ident, inc, listed, small, square, src, tallying, total
from tests.behaviour.table import Played, play, states_of
from tests.support.codes import codes


async def below_five(x: int) -> Maybe[int]:
    return x if x < 5 else SKIP


async def until_three(x: int) -> Maybe[int]:
    return x if x % 3 else SKIP


async def kept(xs: list[list[int]]) -> list[list[int]]:
    return xs


def counting(limit: int | None = 100, on_limit: str = "exit") -> Flow:
    """Count from `x` until 5: the node `inc` repeats, as long as `below_five` lets its value pass."""
    f = Flow("counting")
    f.input("x", int)
    step = f.add(inc)  # type: ignore[call-arg]
    passed = f.add(below_five, x=step.out)
    f.connect("$in.x", "inc.x")
    f.connect("below_five", "inc.x", feedback=True, limit=limit, on_limit=on_limit)
    f.output("last", step.out)
    f.output("passed", passed.out)
    return f


def exits(played: Played) -> list[tuple[str | None, Any, Any]]:
    """List how loops have ended."""
    ended = [event for event in played.events if event.kind is EventKind.LOOP_EXITED]
    return [(event.path, event.data["reason"], event.data["iterations"]) for event in ended]


async def test_another_round_follows_as_long_as_a_feedback_edge_brings_a_value() -> None:
    played = await play(counting(), {"x": 0})
    assert played.result.outputs == {"last": 5, "passed": 4}
    assert exits(played) == [("inc", "exhausted", 5)]
    assert not played.result.warnings


async def test_the_first_head_has_the_path_of_the_round_and_others_stand_below_it() -> None:
    played = await play(counting(), {"x": 3})
    assert states_of(played.result) == {
        "inc": "done", "inc[0]": "done", "inc[0]/below_five": "done",
        "inc[1]": "done", "inc[1]/below_five": "done",
    }  # fmt: skip


async def test_the_limit_counts_rounds_and_ends_the_loop_with_a_warning() -> None:
    played = await play(counting(limit=3), {"x": 0})
    assert played.result.outputs == {"last": 3, "passed": 3}
    assert exits(played) == [("inc", "max_iterations", 3)]
    (warning,) = played.result.warnings
    assert warning.startswith("DF0834 inc: ")
    assert "a feedback edge" in warning


async def test_a_round_that_was_the_last_anyway_is_not_at_the_limit() -> None:
    played = await play(counting(limit=5), {"x": 0})
    assert exits(played) == [("inc", "exhausted", 5)]


async def test_the_limit_may_fail_the_loop() -> None:
    with pytest.raises(RunFailed) as caught:
        await counting(limit=3, on_limit="fail").run(x=0)
    (failure,) = caught.value.failures
    assert (failure.path, failure.type) == ("inc", "LoopLimit")
    assert failure.message.startswith("DF0803 inc: ")
    assert "a feedback edge" in failure.message


async def test_without_a_limit_a_loop_ends_when_nothing_comes_back() -> None:
    assert (await counting(limit=None).run(x=-200))["last"] == 5


async def test_what_leaves_is_the_last_value_or_the_list_of_all() -> None:
    f = counting()
    f.add(total)  # type: ignore[call-arg]
    f.add(square)  # type: ignore[call-arg]
    f.connect("below_five", "total.xs", leave="all")
    f.connect("below_five", "square.x")
    result = await f.run(x=0)
    told: list[Any] = [result.get("total.out"), result.get("square.out")]
    assert told == [1 + 2 + 3 + 4, 4 * 4]


async def test_a_side_branch_runs_once_unless_it_is_declared_part_of_the_loop() -> None:
    f = counting()
    f.add(square)  # type: ignore[call-arg]
    f.add(ident)  # type: ignore[call-arg]
    f.connect("inc", "square.x", each_round=True)
    f.connect("square", "ident.x")
    with tallying() as tally:
        result = await f.run(x=2)
    assert [path for path in tally.paths if "square" in path] == [f"inc[{n}]/square" for n in range(3)]
    assert tally.paths[-1] == "ident"
    told: Any = result.get("ident.out")
    assert told == 25


async def test_an_edge_from_outside_into_another_port_is_a_constant_of_every_round() -> None:
    f = Flow()
    f.input("by", int)
    step = f.add(add)  # type: ignore[call-arg]
    f.connect("$in.by", "add.x")
    f.connect("$in.by", "add.y")
    f.connect("below_five", "add.y", feedback=True)
    f.add(below_five, x=step.out)
    f.output("last", step.out)
    assert (await f.run(by=2))["last"] == 6


async def test_a_port_with_feedback_alone_is_not_connected_in_the_first_round() -> None:
    async def counted(x: int = 0) -> int:
        return x + 1

    f = Flow()
    f.output("last", f.add(counted).out)
    f.connect("counted", "counted.x", feedback=True, limit=4)
    assert (await f.run())["last"] == 4


async def test_a_constant_on_a_port_counts_in_the_first_round() -> None:
    f = Flow()
    f.output("last", f.add(inc, x=10).out)
    f.connect("inc", "inc.x", feedback=True, limit=4)
    assert (await f.run())["last"] == 14


async def test_a_required_port_with_feedback_alone_is_a_skip_in_the_first_round() -> None:
    f = Flow()
    f.output("last", f.add(inc).out)  # type: ignore[call-arg]
    f.connect("inc", "inc.x", feedback=True)
    played = await play(f, {})
    assert played.result.outputs == {}
    assert states_of(played.result) == {"inc": "done", "inc[0]": "skipped"}
    assert played.result.why("last").splitlines()[-1] == "  because no edge into it counts in this round"


async def test_a_many_port_has_its_edges_in_declared_order_in_every_round() -> None:
    f = Flow()
    f.input("x", int)
    every = f.add(listed)
    f.add(total, xs=every.out)
    f.add(below_five)  # type: ignore[call-arg]
    f.connect("total", "below_five.x")
    f.connect("below_five", "listed.xs", feedback=True)
    f.connect("$in.x", "listed.xs")
    f.connect("total", "listed.xs", feedback=True, limit=3)
    f.output("last", every.out)
    assert (await f.run(x=2))["last"] == [4, 4]


async def test_two_feedback_edges_that_both_bring_a_value_fail_a_port_that_takes_one() -> None:
    f = counting()
    f.connect("inc", "inc.x", feedback=True)
    with pytest.raises(RunFailed, match=r"DF0811 inc\.x:"):
        await f.run(x=0)


async def test_a_failure_ends_the_loop_and_is_what_leaves_it() -> None:
    f = Flow()
    f.input("x", int)
    f.add(fails_on_odd)  # type: ignore[call-arg]
    step = f.add(inc)  # type: ignore[call-arg]
    f.connect("$in.x", "fails_on_odd.x")
    f.connect("fails_on_odd", "inc.x")
    f.connect("inc", "fails_on_odd.x", feedback=True)
    f.add(square, x=step.out)
    with pytest.raises(RunFailed) as caught:
        await f.run(x=0)
    assert [failure.path for failure in caught.value.failures] == ["fails_on_odd[1]"]
    assert states_of(caught.value.result) == {
        "fails_on_odd": "failed", "square": "not_run", "fails_on_odd[0]": "done",
        "fails_on_odd[0]/inc": "done", "fails_on_odd[1]": "failed", "fails_on_odd[1]/inc": "not_run",
    }  # fmt: skip


async def test_a_loop_whose_first_values_are_all_skips_is_skipped() -> None:
    f = Flow()
    f.input("x", int)
    f.add(small)  # type: ignore[call-arg]
    f.connect("$in.x", "small.x")
    step = f.add(inc)  # type: ignore[call-arg]
    f.connect("small", "inc.x")
    f.connect("inc", "inc.x", feedback=True, limit=2)
    f.output("last", step.out)
    assert states_of((await play(f, {"x": 7})).result) == {"small": "done", "inc": "skipped"}


async def test_an_inner_loop_starts_afresh_in_each_round_of_the_outer_one() -> None:
    f = Flow()
    f.input("x", int)
    f.add(ident)  # type: ignore[call-arg]
    step = f.add(inc)  # type: ignore[call-arg]
    f.connect("$in.x", "ident.x")
    f.connect("ident", "inc.x")
    f.add(until_three, x=step.out)
    f.connect("until_three", "inc.x", feedback=True)
    f.add(small)  # type: ignore[call-arg]
    f.connect("inc", "small.x")
    f.connect("small", "ident.x", feedback=True)
    f.add(kept)  # type: ignore[call-arg]
    f.connect("inc", "kept.xs", leave="all")
    played = await play(f, {"x": -7})
    told: Any = played.result.get("kept.out")
    assert told == [[-6], [-5, -4, -3], [-2, -1, 0], [1, 2, 3]]
    inner = [(f"ident[{number}]/inc", "exhausted", count) for number, count in enumerate((1, 3, 3, 3))]
    assert exits(played) == [*inner, ("ident", "exhausted", 4)]


async def test_loops_that_share_nodes_and_no_head_are_one_with_the_smaller_limit() -> None:
    f = Flow()
    f.input("x", int)
    f.add(src)  # type: ignore[call-arg]
    f.add(ident)  # type: ignore[call-arg]
    both = f.add(add)  # type: ignore[call-arg]
    f.connect("$in.x", "src.x")
    f.connect("$in.x", "ident.x")
    f.connect("src", "add.x")
    f.connect("ident", "add.y")
    f.connect("add", "src.x", feedback=True, limit=3)
    f.connect("add", "ident.x", feedback=True, limit=5, on_limit="fail")
    f.output("last", both.out)
    with pytest.raises(RunFailed, match=r"DF0803 src: .* 3 rounds"):
        await f.run(x=1)


async def test_loops_that_wait_for_one_another_are_one() -> None:
    f = Flow()
    f.input("x", int)
    for name in ("a", "b", "c", "d"):
        f.add(node(add).with_(name=name))  # type: ignore[call-arg]
    for target in ("a.x", "a.y", "c.x", "c.y"):
        f.connect("$in.x", target)
    for source, target in (("a", "b.x"), ("c", "d.x"), ("a", "d.y"), ("c", "b.y")):
        f.connect(source, target)
    f.connect("b", "a.x", feedback=True, limit=2)
    f.connect("d", "c.x", feedback=True, limit=2)
    assert exits(await play(f, {"x": 1})) == [("a", "max_iterations", 2)]


@pytest.mark.parametrize("source", ["$in.x", "square.out"])
def test_a_feedback_edge_that_closes_no_loop_is_refused(source: str) -> None:
    f = Flow()
    f.input("x", int)
    f.add(inc, x=f.add(src, x=1).out)
    f.add(square, x=1)
    f.connect(source, "inc.x", feedback=True)
    assert "DF0330 inc.x" in codes(f.check())


def test_a_cycle_without_feedback_is_told_with_what_can_be_done() -> None:
    f = Flow()
    f.add(inc)  # type: ignore[call-arg]
    f.connect("inc", "inc.x")
    with pytest.raises(FlowInvalid, match="DF0316 inc:"):
        f.compile()
