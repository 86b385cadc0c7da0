# mypy: disable-error-code="arg-type"
"""Loops in the graph of a flow, before it runs: types, feedback edges, maps around them (S5.2, S6, S7.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from anyio.lowlevel import checkpoint

from dataflow import SKIP, ExecutionContext, Flow, Maybe, collect, each, merge, node
from tests.behaviour.nodes import add, ident, inc, square, tallying, total
from tests.compiler import typed_nodes as typed
from tests.support.codes import codes, found_of
from tests.support.quick_nodes import every


async def is_big(n: int) -> bool:
    return n > 3


def test_a_test_without_a_function_must_be_a_bool() -> None:
    sources: list[tuple[Callable[[Flow, Any], Any], list[tuple[str, ...]]]] = [
        (lambda _flow, carry: carry.out, [("DF0308 loop.until", "bool", "int")]),
        (lambda flow, carry: flow.add(typed.anything, x=carry.out).out, []),
        (lambda flow, carry: flow.add(is_big, n=carry.out).out, []),
    ]
    for source, problems in sources:
        flow = Flow()
        with flow.loop(limit=2) as it:
            carry = it.carry(0)
            it.until(source(flow, carry), None)  # as documents may
            carry.next(carry.out)
        assert found_of(flow.check()) == problems


def test_a_next_value_has_the_type_of_the_first() -> None:
    place = "DF0308 loop.carry.carry.next"
    values: list[tuple[Any, Callable[[Flow, Any], Any], list[tuple[str, ...]]]] = [
        (0, lambda f, c: f.add(typed.whole, n=c.out).out, []),
        (0.5, lambda f, _c: f.add(typed.whole, n=1).out, []),
        (None, lambda f, _c: f.add(typed.text, t="").out, []),
        ([], lambda f, _c: f.input("xs", list[str]), []),
        (True, lambda _f, _c: 1, [(place, "bool", "Literal[1]")]),
        ("a", lambda f, _c: f.add(typed.whole, n=1).out, [(place, "str", "int")]),
    ]
    for first, next_value, problems in values:
        flow = Flow()
        with flow.loop(limit=2) as it:
            carry = it.carry(first)
            carry.next(next_value(flow, carry))
        assert found_of(flow.check()) == problems


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


def counting() -> tuple[Flow, Any]:
    f = Flow("counting")
    f.input("n", int)
    step = f.add(inc)  # type: ignore[call-arg]  # `connect` wires the port
    f.connect("$in.n", "inc.x")
    return f, step


def come_back(f: Flow, x: Any) -> None:
    f.add(below, x=x)
    f.connect("below", "inc.x", feedback=True)


def test_an_edge_from_a_map_around_the_loop_is_that_of_its_item() -> None:
    """Edges that are all in one map put the loop around them into that map."""
    f = Flow("f")
    item = f.add(square, x=each(f.input("xs", list[int])))
    with f.loop(name="up", limit=2) as up:
        number = up.carry(0)
        met = f.add(ident, x=every(item.out, item.out))
        number.next(f.add(add, x=number.out, y=f.add(total, xs=collect(met.out)).out).out)
    f.output("sums", collect(number.final))
    assert f.run_sync(xs=[1, 2])["sums"] == [4, 16]


@pytest.mark.parametrize("is_read_besides", [False, True])
def test_an_output_of_the_flow_closes_maps_over_edges_in_a_loop(is_read_besides: bool) -> None:
    """What it tells is the list of the last round (S6.4, S7.4)."""
    f, step = counting()
    met = f.add(ident, x=every(step.out, f.add(square, x=step.out).out))
    deeper = f.add(node(ident).with_(name="deeper"), x=every(met.out, step.out))
    come_back(f, f.add(total, xs=collect(deeper.out)).out)
    f.output("met", met.out)
    f.output("again", met.out)
    f.output("deeper", deeper.out)
    if is_read_besides:
        f.output("sum", f.add(node(total).with_(name="sum"), xs=collect(met.out)).out)
    result = f.run_sync(n=0)
    wanted: dict[str, Any] = {"met": [4, 16], "again": [4, 16], "deeper": [4, 16, 4]}
    assert result.outputs == wanted | ({"sum": 20} if is_read_besides else {})


def test_an_output_of_the_flow_closes_maps_over_edges_around_a_loop_too() -> None:
    f = Flow("f")
    f.add(square, x=every(f.input("a", int), f.input("b", int)))
    step = f.add(inc)  # type: ignore[call-arg]  # `connect` wires the port
    f.connect("square", "inc.x")
    met = f.add(ident, x=every(step.out, step.out))
    come_back(f, f.add(total, xs=collect(met.out)).out)
    f.output("met", met.out)
    assert f.run_sync(a=0, b=1)["met"] == [[3, 3], [5, 5]]


def test_a_map_that_is_read_in_a_loop_and_beside_it_is_reported_once() -> None:
    f, step = counting()
    outside = f.add(square, x=each(f.input("xs", list[int])))
    item = f.add(add, x=outside.out)  # type: ignore[call-arg]  # `connect` wires the port
    f.connect("inc", "add.y", each_round=True)
    come_back(f, step.out)
    f.output("items", collect(item.out))
    f.output("squares", collect(outside.out))
    assert codes(f.check()) == ["DF0325 add"]


async def late(n: int) -> int:
    for _ in range(5):
        await checkpoint()
    return n


async def big(n: int) -> bool:
    return n > 1


def dead(flow: Flow) -> Any:
    return flow.when(1, lambda n: n > 3).yes


async def test_a_test_may_read_anything() -> None:
    tests: list[tuple[Callable[..., None], int]] = [
        (lambda _flow, it, n, _step: it.until(n.out, lambda value: value == 1), 2),
        (lambda flow, it, _n, step: it.until(flow.add(late, n=step.out).out, lambda value: value == 2), 2),
        (lambda flow, it, _n, step: it.until(flow.add(big, n=step.out).out, None), 2),
        (lambda _flow, it, _n, _step: it.until(True, lambda value: value), 1),
        (lambda flow, it, _n, _step: it.until(flow.input("stop", bool, True), lambda value: value), 1),
        (lambda flow, it, _n, step: it.until(merge(dead(flow), step.out), lambda value: value == 3), 3),
        (lambda flow, it, _n, _step: it.until(dead(flow), lambda _value: True), 1),
        (lambda _flow, it, n, _step: it.while_(n.out, lambda value: value < 2), 2),
    ]
    for position, (test, rounds) in enumerate(tests):
        with Flow() as flow:
            with flow.loop(limit=4) as it:
                n = it.carry(0)
                step = flow.add(typed.inc, n=n.out)
                test(flow, it, n, step)
                n.next(step.out)
            flow.output("last", it.result(step.out))
        result = await flow.run()
        fired = [path for path in result.states if path.endswith("/inc")]
        assert (position, result["last"], len(fired)) == (position, rounds, rounds)


#: What a loop reads from outside at the end of an iteration, and the last value that results.
OUTSIDE: list[tuple[Callable[..., Any], int]] = [
    (lambda _it, n, _step, outside: n.next(outside), 6),
    (lambda _it, n, _step, outside: n.next(merge(outside, 0)), 6),
    (lambda it, n, step, outside: (it.until(outside, lambda value: value == 5), n.next(step.out)), 1),
]


async def test_an_iteration_waits_for_values_from_outside_that_it_reads_at_its_end() -> None:
    for wire, last in OUTSIDE:
        for source, value in ((late, 5), (typed.inc, 4)):
            with Flow() as flow:
                outside = flow.add(source, n=value)
                with flow.loop(limit=2) as it:
                    n = it.carry(0)
                    step = flow.add(typed.inc, n=n.out)
                    wire(it, n, step, outside.out)
                flow.output("last", it.result(step.out))
            assert (await flow.run())["last"] == last
