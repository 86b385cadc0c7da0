"""No two nodes have the same path: ids in a map differ from those in the subflow that names it (S2.2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataflow import Flow, FlowInvalid, collect, each, node
from dataflow_control import approval
from tests.compiler.typed_nodes import inc, total
from tests.support.codes import codes


def sub(*inner: str) -> Flow:
    with Flow("sub") as f:
        port = f.input("n", int)
        for name in inner:
            port = f.add(node(inc).with_(name=name), n=port).out
        f.output("out", port)
    return f


def mapped(inner: str, after: str) -> Flow:
    """Place a flow in a map, and a node behind it in the same map."""
    f = Flow("f")
    step = f.add(sub(inner), n=each(f.input("list", list[int])))
    f.output("out", collect(f.add(node(inc).with_(name=after), n=step.out.out).out))
    return f


async def test_a_node_of_a_map_differs_from_those_of_the_flow_it_is_named_after() -> None:
    assert codes(mapped("inc", "inc").check()) == ["DF0314 inc"]
    for inner, after in (("first", "inc"), ("inc", "then"), ("inc", "sub_2")):
        result = await mapped(inner, after).run(list=[1])
        assert result["out"] == [3]
        assert sorted(result.states) == sorted(["sub", "sub[0]", f"sub[0]/{inner}", f"sub[0]/{after}"])


def test_nodes_of_each_of_the_maps_around_it_differ() -> None:
    f = Flow("f")
    numbers = each(f.input("lists", list[list[int]]))
    deep = f.add(sub("inc"), n=each(numbers))
    summed = f.add(node(total).with_(name="inc"), numbers=numbers)
    f.output("out", collect(collect(deep.out.out)))
    f.output("sums", collect(summed.out))
    assert codes(f.check()) == ["DF0314 inc"]


async def test_nodes_outside_of_the_map_may_have_the_same_names() -> None:
    with Flow("f") as f:
        before = f.add(inc, n=f.input("n", int))
        f.output("one", f.add(sub("inc"), n=before.out).out.out)
        f.output("all", collect(f.add(sub("inc"), n=each([1, 2])).out.out))
    assert dict((await f.run(n=1)).outputs) == {"one": 3, "all": [2, 3]}


def test_loops_and_asks_in_the_map_differ_too() -> None:
    f = Flow("f")
    step = f.add(sub("again"), n=each(f.input("list", list[int])))
    with f.loop(name="again", limit=2) as rounds:
        number = rounds.carry(step.out.out)
        number.next(f.add(inc, n=number.out).out)
    f.output("out", collect(number.final))
    way = f.add(approval, value=each(f.input("other", list[int])))
    f.output("why", collect(f.ask(str, "Why not?", show=way.out.reject).out))
    problems = f.check()
    assert codes(problems) == ["DF0314 again", "DF0314 ask"]


def test_a_document_has_the_location_of_the_node(tmp_path: Path) -> None:
    file = tmp_path / "flow.yaml"
    file.write_text(
        """
dataflow: 1
inputs: {list: {type: {type: array, items: {type: integer}}}}
nodes:
  way: {type: control.approval, inputs: {value: {each: $in.list}}}
  ask: {type: control.ask, config: {prompt: Why not?}, inputs: {show: way.reject}}
outputs: {why: {collect: ask}}
"""
    )
    with pytest.raises(FlowInvalid, match="6:3: DF0314 ask:"):
        Flow.load(file)
