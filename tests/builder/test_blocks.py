"""Blocks while they are wired: the ids of nodes, and reading ports across blocks (S1.2, S6.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from dataflow import Flow, Step, collect, each, gather, merge, node
from dataflow.core.wiring import Literally, LoopBlock, Many, Merge, Reference


class Parts(NamedTuple):
    title: str
    size: int


async def inc(n: int) -> int:
    return n + 1


async def split(n: int) -> Parts:
    return Parts(str(n), n)


async def total(numbers: list[int]) -> int:
    return sum(numbers)


async def sums(*numbers: int) -> int:
    return sum(numbers)


def named(name: str) -> Any:
    return node(inc).with_(name=name)


def ids(*steps: Step[Any]) -> list[str]:
    return [step.out.__repr__()[1:-5] for step in steps]


def body_of(flow: Flow, loop: str) -> LoopBlock:
    placed = flow.wiring.block.nodes[loop]
    assert isinstance(placed, LoopBlock)
    return placed


def test_nodes_are_named_after_their_function_and_counted() -> None:
    flow = Flow()
    steps = [flow.add(inc, n=1), flow.add(split, n=1), flow.add(inc, n=1), flow.add(inc, n=1)]
    assert ids(*steps) == ["inc", "split", "inc_2", "inc_3"]
    assert list(flow.wiring.block.nodes) == ids(*steps)


def test_a_name_that_is_taken_is_passed_over() -> None:
    flow = Flow()
    steps = [flow.add(named("inc_2"), n=1), flow.add(inc, n=1), flow.add(inc, n=1)]
    assert ids(*steps) == ["inc_2", "inc", "inc_3"]
    assert flow.check() == []


def test_a_declared_name_is_counted_like_a_function() -> None:
    flow = Flow()
    renamed = node(name="raise")(inc)
    assert ids(flow.add(renamed, n=1), flow.add(renamed, n=1)) == ["raise", "raise_2"]


def test_a_name_given_twice_is_a_problem() -> None:
    flow = Flow()
    first, second = flow.add(named("a"), n=1), flow.add(named("a"), n=1)
    assert ids(first) == ["a"]
    assert ids(second) != ["a"]
    assert flow.check() == ["node id 'a' is used twice"]


@pytest.mark.parametrize("name", ["", "$in", "$carry", "$item"])
def test_a_reserved_name_is_a_problem(name: str) -> None:
    flow = Flow()
    flow.add(named(name), n=1)
    assert flow.check() == [f"node id {name!r} is reserved; give the node another name"]


@pytest.mark.parametrize("name", ["a.b", "a/b[0]", "größe", "$done", "$x", " ", "'", "a\nb", "~2", "%41"])
async def test_any_other_text_is_a_name(name: str) -> None:
    with Flow() as flow:
        first = flow.add(named(name), n=1)
        flow.output("y", flow.add(inc, n=first.out).out)
    result = await flow.run()
    assert result["y"] == 3
    assert result.get(first.out) == 2


def test_nodes_of_a_loop_are_named_apart_from_those_around() -> None:
    flow = Flow()
    outer = flow.add(inc, n=1)
    with flow.loop(limit=2) as it:
        carry = it.carry(0)
        inner = flow.add(inc, n=carry.out)
        carry.next(inner.out)
    later = flow.add(inc, n=1)
    assert ids(outer, inner, later) == ["inc", "inc_2", "inc_3"]


def test_loops_are_counted_and_named() -> None:
    flow = Flow()
    for name in ("", "", "refine", ""):
        with flow.loop(name=name, limit=1) as it:
            carry = it.carry(0)
            carry.next(carry.out)
    assert list(flow.wiring.block.nodes) == ["loop", "loop_2", "refine", "loop_3"]


def test_a_loop_with_the_name_of_a_node_is_a_problem() -> None:
    flow = Flow()
    flow.add(inc, n=1)
    with flow.loop(name="inc", limit=1) as it:
        carry = it.carry(0)
        carry.next(carry.out)
    assert flow.check() == ["node id 'inc' is used twice"]


def test_carried_ports_are_counted_through_the_loops_around() -> None:
    flow = Flow()
    with flow.loop(name="a", limit=1) as outer:
        first, second = outer.carry(0), outer.carry(0)
        with flow.loop(name="b", limit=1) as inner:
            third = inner.carry(first.out)
            third.next(third.out)
        first.next(third.final)
        second.next(second.out)
    with flow.loop(name="c", limit=1) as later:
        fourth = later.carry(0)
        fourth.next(fourth.out)
    assert list(body_of(flow, "a").carries) == ["carry", "carry_2"]
    assert list(body_of(flow, "c").carries) == ["carry"]
    assert repr(third.out) == "'$carry.carry_3'"
    assert flow.check() == []


async def test_a_port_of_a_loop_can_be_read_outside() -> None:
    with Flow() as flow:
        with flow.loop(limit=3) as it:
            carry = it.carry(0)
            parts = flow.add(split, n=carry.out)
            carry.next(flow.add(inc, n=parts.out.size).out)
        flow.output("size", flow.add(inc, n=parts.out.size).out)
        flow.output("again", parts.out.size)
        flow.output("whole", parts.out)
        flow.output("last", it.result(parts.out.title))
    assert list(body_of(flow, "loop").body.outputs) == ["split_size", "split", "split_title"]
    assert dict((await flow.run()).outputs) == {"size": 3, "again": 2, "whole": Parts("2", 2), "last": "2"}


async def test_a_port_of_an_inner_loop_can_be_read_two_blocks_out() -> None:
    with Flow() as flow:
        with flow.loop(name="outer", limit=2) as outer:
            total = outer.carry(0)
            with flow.loop(name="inner", limit=2) as inner:
                carry = inner.carry(total.out)
                step = flow.add(inc, n=carry.out)
                carry.next(step.out)
            total.next(carry.final)
        flow.output("step", step.out)
    assert (await flow.run())["step"] == 4


async def test_a_port_of_one_loop_can_be_read_in_another() -> None:
    with Flow() as flow:
        with flow.loop(name="first", limit=2) as first:
            carry = first.carry(0)
            step = flow.add(inc, n=carry.out)
            carry.next(step.out)
        with flow.loop(name="second", limit=1) as second:
            other = second.carry(0)
            other.next(flow.add(inc, n=step.out).out)
            again = flow.add(inc, n=step.out)
        flow.output("again", again.out)
    assert (await flow.run())["again"] == 3


async def test_a_port_from_around_can_be_read_in_a_loop() -> None:
    with Flow() as flow:
        base = flow.add(inc, n=flow.input("n", int))
        with flow.loop(limit=2) as it:
            carry = it.carry(0)
            carry.next(flow.add(sums, carry.out, base.out).out)
            last = it.result(flow.add(sums, carry.out, base.out).out)
        flow.output("y", last)
    assert (await flow.run(n=9))["y"] == 20


def test_a_port_of_another_flow_is_a_problem() -> None:
    other, flow = Flow("other"), Flow("flow")
    foreign = other.add(inc, n=1)
    flow.add(inc, n=foreign.out)
    assert (
        "port 'inc.out' belongs to flow 'other', not to this one; make it an input of this flow"
        in flow.check()
    )
    assert other.check() == []


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            lambda _flow, step: [step.out],
            "port 'total.numbers' is given a list with ports in it; write gather(...) for a list of values",
        ),
        (
            lambda _flow, step: (step.out, 1),
            "port 'total.numbers' is given a tuple with ports in it; write gather(...) for a list of values",
        ),
        (
            lambda _flow, step: step,
            "port 'total.numbers' is given a step; wire one of its ports: step.out, step.done or step.error",
        ),
        (
            lambda flow, step: flow.when(step.out, lambda n: n > 1),
            "port 'total.numbers' is given a when, which is no port; wire one of its ports",
        ),
    ],
)
def test_what_is_no_port_and_no_constant_is_a_problem(
    given: Callable[[Flow, Step[int]], Any], problem: str
) -> None:
    flow = Flow()
    step = flow.add(inc, n=1)
    flow.add(total, numbers=given(flow, step))
    assert problem in flow.check()


@pytest.mark.parametrize("place", ["loop", "carry"])
def test_a_loop_is_no_port(place: str) -> None:
    flow = Flow()
    with flow.loop(limit=1) as it:
        carry = it.carry(0)
        carry.next(carry.out)
    handle: Any = it if place == "loop" else carry
    flow.output("x", handle)
    assert f"output 'x' is given a {place}, which is no port; wire one of its ports" in flow.check()


def test_ports_become_edges_and_the_rest_stands_with_the_node() -> None:
    flow = Flow()
    first = flow.add(inc, n=1)
    flow.add(sums, first.out, first.out)
    flow.add(sums, first.out, 3)
    flow.add(inc, n=merge(first.out, first.out))
    block = flow.wiring.block
    assert [(str(edge.source), edge.target, edge.target_port) for edge in block.edges] == [
        ("inc.out", "sums", "numbers"),
        ("inc.out", "sums", "numbers"),
    ]
    many: Any = block.nodes["sums_2"]
    joined: Any = block.nodes["inc_2"]
    source = many.inputs["numbers"]
    assert isinstance(source, Many)
    assert source.sources[0] == Reference("inc")
    assert isinstance(source.sources[1], Literally)
    assert joined.inputs["n"] == Merge((Reference("inc"), Reference("inc")))


async def test_expressions_can_stand_in_one_another() -> None:
    with Flow() as flow:
        xs = flow.input("xs", list[int])
        step = flow.add(inc, n=each(xs))
        flow.output("y", flow.add(total, numbers=merge(collect(step.out), gather(1, 2))).out)
    assert (await flow.run(xs=[1, 2]))["y"] == 5


def test_one_item_is_read_in_one_block() -> None:
    flow = Flow()
    item = each(flow.input("xs", list[int]))
    flow.add(inc, n=item)
    with flow.loop(limit=1) as it:
        carry = it.carry(0)
        carry.next(flow.add(sums, carry.out, item).out)
    assert (
        "port 'sums.numbers' reads the item of a map that is opened in another block; "
        "carry it into the loop, or call each(...) again to open a map in this block"
    ) in flow.check()


async def test_expressions_are_nested_up_to_a_depth() -> None:
    flow = Flow()
    step = flow.add(inc, n=1)
    joined = step.out
    for _ in range(100):
        joined = merge(joined, step.out)
    flow.output("y", joined)
    assert (await flow.run())["y"] == 2
    with pytest.raises(ValueError) as caught:
        gather(joined)
    assert str(caught.value) == "gather(...) is nested more than 100 deep; put a node in between"
