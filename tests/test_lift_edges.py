"""Loops of feedback edges with maps over edges inside, behind and around them (S6.3, S7.4)."""

from __future__ import annotations

from typing import Any

import pytest

from dataflow import SKIP, Flow, Maybe, collect, each
from tests.behaviour.nodes import add, ident, inc, square, total
from tests.behaviour.table import states_of
from tests.edges import every


async def below(x: int) -> Maybe[int]:
    return x if x < 5 else SKIP


def counting() -> tuple[Flow, Any]:
    """Count up to five, round by round; return the flow and the port that a round counts with."""
    f = Flow("counting")
    f.input("n", int)
    step = f.add(inc)  # type: ignore[call-arg]
    f.connect("$in.n", "inc.x")
    return f, step


def come_back(f: Flow, x: Any) -> None:
    """Close the loop with what is below five."""
    f.add(below, x=x)
    f.connect("below", "inc.x", feedback=True)


def test_a_map_over_edges_of_a_loop_is_opened_in_each_round() -> None:
    f, step = counting()
    met = f.add(ident, x=every(step.out, f.add(square, x=step.out).out))
    come_back(f, f.add(total, xs=collect(met.out)).out)
    f.output("met", collect(met.out))
    result = f.run_sync(n=0)
    assert result["met"] == [3, 9]
    assert [path for path in states_of(result) if "ident[" in path] == [
        "inc[0]/ident[0]", "inc[0]/ident[1]", "inc[1]/ident[0]", "inc[1]/ident[1]",
    ]  # fmt: skip


@pytest.mark.parametrize("is_turned", [False, True])
def test_an_edge_from_a_map_in_the_round_brings_all_its_items(is_turned: bool) -> None:
    """The map over edges is outside of that map, so what closes it leaves none (S7.4)."""
    f, step = counting()
    item = f.add(add, y=each(f.input("xs", list[int])))  # type: ignore[call-arg]
    f.connect("inc", "add.x")
    ports = [step.out, item.out]
    met = f.add(ident, x=every(*(ports[::-1] if is_turned else ports)))
    come_back(f, f.add(total, xs=collect(met.out)).out)
    f.output("met", collect(met.out))
    result = f.run_sync(n=0, xs=[1, 2])
    assert result["met"] == ([2, 3, 1] if is_turned else [1, 2, 3])
    assert states_of(result)["inc[0]/ident[0.1]" if is_turned else "inc[0]/ident[1.1]"] == "done"


def test_what_leaves_a_loop_is_an_edge_of_a_map_behind_it() -> None:
    f, step = counting()
    come_back(f, step.out)
    f.output("met", f.add(ident, x=every(step.out, each(f.input("xs", list[int])))).out)
    assert f.run_sync(n=0, xs=[1, 2])["met"] == [5, 1, 2]


def test_a_loop_in_the_frames_of_a_map_over_edges_runs_in_each() -> None:
    f = Flow("f")
    f.add(ident, x=every(f.input("a", int), f.input("b", int)))
    step = f.add(inc)  # type: ignore[call-arg]
    f.connect("ident", "inc.x")
    come_back(f, step.out)
    f.output("all", step.out)
    result = f.run_sync(a=3, b=7)
    assert result["all"] == [5, 8]
    assert "ident[0]/inc[1]" in states_of(result)


def test_a_loop_in_a_map_opens_a_map_over_edges_in_each_round() -> None:
    f = Flow("f")
    start = f.add(square, x=each(f.input("xs", list[int])))
    step = f.add(inc)  # type: ignore[call-arg]
    f.connect("square", "inc.x")
    met = f.add(ident, x=every(step.out, start.out))
    come_back(f, f.add(total, xs=collect(met.out)).out)
    f.output("met", collect(collect(met.out)))
    assert f.run_sync(xs=[1, 2])["met"] == [[4, 1], [5, 4]]


def test_a_feedback_edge_may_not_leave_a_map_over_edges() -> None:
    f, step = counting()
    come_back(f, every(step.out, f.add(square, x=step.out).out))
    told = "a feedback edge may not leave a map, and this one leaves every(inc.out, square.out)"
    assert f.check() == [f"edge below.out -> inc.x: {told}; collect it first"]
