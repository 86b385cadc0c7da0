"""Feedback edges: rounds of a flow that is a flat graph, and what leaves them (S6.3, S6.4)."""

from __future__ import annotations

from typing import Any, Final

import pytest

from dataflow import SKIP, EventKind, Flow, FlowInvalid, Maybe, RunFailed, node
from tests.behaviour.nodes import add, fails_on_odd, ident, inc, small, square, src, tallying, total
from tests.behaviour.table import Played, failed_run, play, states_of
from tests.support.codes import codes


async def below_five(x: int) -> Maybe[int]:
    return x if x < 5 else SKIP


async def until_three(x: int) -> Maybe[int]:
    return x if x % 3 else SKIP


async def kept(xs: list[list[int]]) -> list[list[int]]:
    return xs


async def counted(x: int = 0) -> int:
    return x + 1


def wired(functions: list[Any], *edges: tuple[str, str], feedback: list[tuple[Any, ...]]) -> Flow:
    """Place functions in a flow with an input x, wire them by name, and give the last one's value as `last`.

    Feedback edges are given with their limit and what happens at it, if they have them.
    """
    f = Flow()
    f.input("x", int, 0)
    steps = [f.add(function) for function in functions]
    for source, target in edges:
        f.connect(source, target)
    for source, target, *options in feedback:
        f.connect(source, target, feedback=True, **dict(zip(("limit", "on_limit"), options, strict=False)))
    f.output("last", steps[-1].out)
    return f


def counting(limit: int | None = 100, on_limit: str = "exit") -> Flow:
    edges = ("$in.x", "inc.x"), ("inc", "below_five.x")
    return wired([below_five, inc], *edges, feedback=[("below_five", "inc.x", limit, on_limit)])


def exits(played: Played) -> list[tuple[str | None, Any, Any]]:
    ended = [event for event in played.events if event.kind is EventKind.LOOP_EXITED]
    return [(event.path, event.data["reason"], event.data["iterations"]) for event in ended]


#: The limit of a loop that counts from 0 to 5, what it gives, and how it ends.
COUNTED: Final[tuple[tuple[int | None, tuple[int, int], tuple[str, str, int]], ...]] = (
    (100, (5, 4), ("inc", "exhausted", 5)),
    (5, (5, 4), ("inc", "exhausted", 5)),  # a round that was the last is not at the limit
    (3, (3, 3), ("inc", "max_iterations", 3)),
    (None, (5, 4), ("inc", "exhausted", 5)),
)


async def test_rounds_follow_as_long_as_a_feedback_edge_brings_a_value_up_to_the_limit() -> None:
    passed: Any = "below_five.out"
    for limit, values, ended in COUNTED:
        played = await play(counting(limit=limit))
        assert (played.result["last"], played.result.get(passed)) == values
        assert exits(played) == [ended]
        assert len(played.result.warnings) == (limit == 3)
        assert all(warning.startswith("DF0834 inc: ") for warning in played.result.warnings)
    assert (await counting(limit=None).run(x=-200))["last"] == 5
    [failure] = (await failed_run(counting(limit=3, on_limit="fail"))).failures
    assert (failure.path, failure.type, failure.code) == ("inc", "LoopLimit", "DF0803")


async def test_what_leaves_is_the_last_value_or_the_list_of_all() -> None:
    f = counting()
    f.add(total)  # type: ignore[call-arg]
    f.add(square)  # type: ignore[call-arg]
    f.connect("below_five", "total.xs", leave="all")
    f.connect("below_five", "square.x")
    result = await f.run()
    found: list[Any] = [result.get("total.out"), result.get("square.out")]
    assert found == [1 + 2 + 3 + 4, 4 * 4]


async def test_a_side_branch_runs_once_unless_it_is_declared_part_of_the_loop() -> None:
    f = counting()
    f.add(square)  # type: ignore[call-arg]
    f.add(ident)  # type: ignore[call-arg]
    f.connect("inc", "square.x", each_round=True)
    f.connect("square", "ident.x")
    with tallying() as tally:
        result = await f.run(x=2)
    assert [path for path in tally.paths if "square" in path] == [f"inc[{n}]/square" for n in range(3)]
    found: Any = result.get("ident.out")
    assert (tally.paths[-1], found) == ("ident", 25)


async def test_what_counts_in_the_first_round_and_what_in_every_round() -> None:
    """An edge from outside into another port is a constant of every round."""
    edges = ("$in.x", "add.x"), ("$in.x", "add.y"), ("add", "below_five.x")
    f = wired([below_five, add], *edges, feedback=[("below_five", "add.y")])
    assert (await f.run(x=2))["last"] == 6
    f = wired([counted], feedback=[("counted", "counted.x", 4)])  # not connected in the first round
    assert (await f.run())["last"] == 4
    f = Flow()
    f.output("last", f.add(inc, x=10).out)  # a constant counts in the first round
    f.connect("inc", "inc.x", feedback=True, limit=4)
    assert (await f.run())["last"] == 14
    result = await wired([inc], feedback=[("inc", "inc.x")]).run()  # a required port without a first value
    assert (result.outputs, states_of(result)) == ({}, {"inc": "done", "inc[0]": "skipped"})
    assert result.why("last").splitlines()[-1] == "  because no edge into it counts in this round"


async def test_a_failure_ends_the_loop_and_is_what_leaves_it() -> None:
    edges = ("$in.x", "fails_on_odd.x"), ("fails_on_odd", "inc.x"), ("inc", "square.x")
    f = wired([fails_on_odd, inc, square], *edges, feedback=[("inc", "fails_on_odd.x")])
    failed = await failed_run(f)
    assert [failure.path for failure in failed.failures] == ["fails_on_odd[1]"]
    assert states_of(failed.result) == {
        "fails_on_odd": "failed", "square": "not_run", "fails_on_odd[0]": "done",
        "fails_on_odd[0]/inc": "done", "fails_on_odd[1]": "failed", "fails_on_odd[1]/inc": "not_run",
    }  # fmt: skip


async def test_an_inner_loop_starts_afresh_in_each_round_of_the_outer_one() -> None:
    edges = ("$in.x", "ident.x"), ("ident", "inc.x"), ("inc", "until_three.x"), ("inc", "small.x")
    feedback = [("until_three", "inc.x"), ("small", "ident.x")]
    f = wired([ident, inc, until_three, small, kept], *edges, feedback=feedback)
    f.connect("inc", "kept.xs", leave="all")
    played = await play(f, {"x": -7})
    assert played.result["last"] == [[-6], [-5, -4, -3], [-2, -1, 0], [1, 2, 3]]
    inner = [(f"ident[{number}]/inc", "exhausted", count) for number, count in enumerate((1, 3, 3, 3))]
    assert exits(played) == [*inner, ("ident", "exhausted", 4)]


async def test_loops_that_share_nodes_or_wait_for_one_another_are_one_with_the_smaller_limit() -> None:
    edges = ("$in.x", "src.x"), ("$in.x", "ident.x"), ("src", "add.x"), ("ident", "add.y")
    feedback = [("add", "src.x", 3), ("add", "ident.x", 5, "fail")]
    with pytest.raises(RunFailed, match=r"DF0803 src: .* 3 rounds"):
        await wired([src, ident, add], *edges, feedback=feedback).run(x=1)
    names = [node(add).with_(name=name) for name in ("a", "b", "c", "d")]
    inputs = [("$in.x", target) for target in ("a.x", "a.y", "c.x", "c.y")]
    crossed = ("a", "b.x"), ("c", "d.x"), ("a", "d.y"), ("c", "b.y")
    f = wired(names, *inputs, *crossed, feedback=[("b", "a.x", 2), ("d", "c.x", 2)])
    assert exits(await play(f, {"x": 1})) == [("a", "max_iterations", 2)]


def test_feedback_edges_that_close_no_loop_and_loops_without_feedback_are_refused() -> None:
    for source in ("$in.x", "square.out"):
        f = Flow()
        f.input("x", int)
        f.add(inc, x=f.add(src, x=1).out)
        f.add(square, x=1)
        f.connect(source, "inc.x", feedback=True)
        assert "DF0330 inc.x" in codes(f.check())
    f = wired([inc], ("inc", "inc.x"), feedback=[])
    with pytest.raises(FlowInvalid, match="DF0316 inc:"):
        f.compile()
