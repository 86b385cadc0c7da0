"""Loops of feedback edges with maps over edges inside, behind and around them (S6.3, S7.4)."""

from __future__ import annotations

from typing import Any

import pytest

from dataflow import SKIP, Flow, Maybe, collect, each, node
from tests.behaviour.nodes import add, ident, inc, square, total
from tests.support.codes import codes
from tests.support.edges import every


async def below(x: int) -> Maybe[int]:
    return x if x < 5 else SKIP


def counting() -> tuple[Flow, Any]:
    """Count up to five, round by round; return the flow and the port that a round counts with."""
    f = Flow("counting")
    f.input("n", int)
    step = f.add(inc)  # type: ignore[call-arg]  # `connect` wires the port
    f.connect("$in.n", "inc.x")
    return f, step


def come_back(f: Flow, x: Any) -> None:
    """Close the loop with what is below five."""
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


def test_a_list_of_a_map_beside_a_loop_is_gone_over_in_each_round() -> None:
    f, step = counting()
    outside = f.add(square, x=each(f.input("xs", list[int])))
    item = f.add(add, x=each(collect(outside.out)))  # type: ignore[call-arg]  # `connect` wires the port
    f.connect("inc", "add.y", each_round=True)
    come_back(f, step.out)
    f.output("items", collect(item.out))
    assert f.run_sync(n=3, xs=[1, 2])["items"] == [6, 9]
