"""Blocks while they are wired: the ids of nodes, and reading ports across blocks (S1.2, S6.4)."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from dataflow import Flow, Step, gather, merge, node
from dataflow.core.wiring import LoopBlock
from tests.behaviour.flow_parts import inc
from tests.support.codes import codes


class Parts(NamedTuple):
    title: str
    size: int


async def split(n: int) -> Parts:
    return Parts(str(n), n)


def named(name: str) -> Any:
    return node(inc).with_(name=name)


def ids(*steps: Step[Any]) -> list[str]:
    return [step.out.__repr__()[1:-5] for step in steps]


def body_of(flow: Flow, loop: str) -> LoopBlock:
    placed = flow.wiring.block.nodes[loop]
    assert isinstance(placed, LoopBlock)
    return placed


def test_nodes_are_named_after_their_function_and_numbered() -> None:
    flow = Flow()
    steps = [flow.add(inc, x=1), flow.add(split, n=1), flow.add(inc, x=1), flow.add(named("inc_4"), x=1)]
    renamed = node(name="raise")(inc)
    steps += [flow.add(inc, x=1), flow.add(inc, x=1), flow.add(renamed, x=1), flow.add(renamed, x=1)]
    assert ids(*steps) == ["inc", "split", "inc_2", "inc_4", "inc_3", "inc_5", "raise", "raise_2"]
    assert list(flow.wiring.block.nodes) == ids(*steps)
    assert flow.check() == []


@pytest.mark.parametrize("name", ["a.b", "a/b[0]", "größe", "$done", "$x", " ", "'", "a\nb", "~2", "%41"])
async def test_any_text_is_a_name(name: str) -> None:
    with Flow() as flow:
        first = flow.add(named(name), x=1)
        flow.output("y", flow.add(inc, x=first.out).out)
    result = await flow.run()
    assert (result["y"], result.get(first.out)) == (3, 2)


def test_reserved_names_and_names_that_are_taken_are_problems() -> None:
    for name in ("", "$in", "$carry", "$item"):
        flow = Flow()
        flow.add(named(name), x=1)
        assert codes(flow.check()) == [f"DF0312 {name}".rstrip()]
    flow = Flow()
    first, second = flow.add(named("a"), x=1), flow.add(named("a"), x=1)
    with flow.loop(name="a", limit=1) as it:
        carry = it.carry(0)
        carry.next(carry.out)
    assert ids(first, second) == ["a", "a_2"]
    assert codes(flow.check()) == ["DF0202 a", "DF0202 a"]


async def test_a_port_of_a_loop_can_be_read_outside() -> None:
    with Flow() as flow:
        with flow.loop(limit=3) as it:
            carry = it.carry(0)
            parts = flow.add(split, n=carry.out)
            carry.next(flow.add(inc, x=parts.out.size).out)
        flow.output("size", flow.add(inc, x=parts.out.size).out)
        flow.output("again", parts.out.size)
        flow.output("whole", parts.out)
        flow.output("last", it.result(parts.out.title))
    assert list(body_of(flow, "loop").body.outputs) == ["split_size", "split", "split_title"]
    assert dict((await flow.run()).outputs) == {"size": 3, "again": 2, "whole": Parts("2", 2), "last": "2"}


def test_ports_of_another_flow_are_problems() -> None:
    other, flow = Flow("other"), Flow("flow")
    flow.add(inc, x=other.add(inc, x=1).out)
    [problem] = [one for one in flow.check() if one.code == "DF0213"]
    assert (problem.place, dict(problem.details)) == ("inc.out", {"flow": "other"})
    assert other.check() == []


def test_what_is_neither_a_port_nor_a_constant_is_a_problem() -> None:
    flow = Flow()
    step = flow.add(inc, x=1)
    with flow.loop(limit=1) as it:
        carry = it.carry(0)
        carry.next(carry.out)
    given: dict[str, Any] = {
        "a list": [step.out],
        "a tuple": (step.out, 1),
        "a step": step,
        "a branch": flow.when(step.out, lambda n: n > 1),
        "a loop": it,
        "a loop variable": carry,
    }
    for name, value in given.items():
        flow.output(name, value)
    problems = flow.check()
    assert {one.place: (one.code, one.available) for one in problems if one.code < "DF03"} == {
        "outputs.a list": ("DF0217", None),
        "outputs.a tuple": ("DF0217", None),
        "outputs.a step": ("DF0216", ("out", "done", "error")),
        "outputs.a branch": ("DF0216", ("yes", "no")),
        "outputs.a loop": ("DF0216", ("result(...)", "all(...)")),
        "outputs.a loop variable": ("DF0216", ("out", "final")),
    }


async def test_joins_are_nested_up_to_a_depth() -> None:
    flow = Flow()
    step = flow.add(inc, x=1)
    joined = step.out
    for _ in range(100):
        joined = merge(joined, step.out)
    flow.output("y", joined)
    assert (await flow.run())["y"] == 2
    with pytest.raises(ValueError, match=r"DF0220 gather\(\.\.\.\)"):
        gather(joined)
