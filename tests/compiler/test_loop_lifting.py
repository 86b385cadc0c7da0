"""Loops of feedback edges in the graph of a flow, before it runs (S2.2, S5.2, S6.3)."""

from __future__ import annotations

from typing import Any

from dataflow import SKIP, ExecutionContext, Flow, Maybe
from tests.behaviour.nodes import ident, inc, square, tallying
from tests.support.codes import codes, found_of


async def below(x: int) -> Maybe[int]:
    return x if x < 5 else SKIP


async def text(x: int) -> str:
    return str(x)


async def turn(context: ExecutionContext) -> ExecutionContext:
    return context


def looping(source: str = "below", **options: Any) -> Flow:
    f = Flow("looping")
    f.input("x", int)
    step = f.add(inc)  # type: ignore[call-arg]
    f.add(below, x=step.out)
    f.connect("$in.x", "inc.x")
    f.connect(source, "inc.x", feedback=True, **options)
    return f


def through(function: Any) -> Flow:
    """Feed back the value of another node, too."""
    f = looping()
    f.add(function)
    f.connect("below", f"{function.__name__}.x")
    f.connect(function.__name__, "inc.x", feedback=True)
    return f


def test_the_type_of_a_feedback_edge_is_compared_with_the_port() -> None:
    assert found_of(through(text).check()) == [("DF0308 inc.x", "int", "str")]
    assert through(ident).check() == []  # of type Any: checked when it enters


def test_two_sure_edges_into_a_port_of_a_loop_are_refused_unless_one_is_fed_back() -> None:
    f = looping()
    f.connect("inc", "inc.x", feedback=True)
    assert f.check() == []
    f.add(square)  # type: ignore[call-arg]
    f.connect("$in.x", "square.x")
    f.connect("$in.x", "square.x")
    assert codes(f.check()) == ["DF0307 square.x"]


def test_conversations_of_the_first_and_of_later_iterations_do_not_meet_but_two_fed_back_do() -> None:
    f = Flow("chat")
    f.context("main")
    f.add(turn)  # type: ignore[call-arg]
    f.connect("main", "turn.context")
    f.connect("turn", "turn.context", feedback=True)
    assert f.check() == []
    f.connect("turn", "turn.context", feedback=True)
    assert codes(f.check()) == ["DF0334 turn.context"]


def test_a_port_in_a_loop_is_known_to_the_result_by_its_own_name() -> None:
    f = looping()
    result = f.run_sync(x=0)
    told: list[Any] = [result.get("inc.out"), result.get("below.out")]
    assert told == [5, 4]
    assert result.why("below.out") == "'below.out' has a value"


async def test_a_port_in_a_loop_can_be_pulled() -> None:
    f = looping()
    with tallying() as tally:
        f.add(square)  # type: ignore[call-arg]
        f.connect("inc", "square.x")
        assert await f.pull("below.out", x=3) == 4
    assert tally.paths == ["inc[0]", "inc[1]"]


def test_a_node_of_a_loop_and_one_inside_the_flow_that_names_it_have_two_paths() -> None:
    for function, problems in ((inc, ["DF0314 inc"]), (below, [])):
        inner = Flow("inner")
        inner.input("x", int)
        inner.output("out", inner.add(inc).out)  # type: ignore[call-arg]
        inner.connect("$in.x", "inc.x")
        f = Flow("f")
        f.input("x", int)
        f.add(inner)
        f.add(function)  # type: ignore[call-arg]
        f.connect("$in.x", "inner.x")
        f.connect("inner", f"{function.__name__}.x")
        f.connect(function.__name__, "inner.x", feedback=True)
        assert codes(f.check()) == problems
