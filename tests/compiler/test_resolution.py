"""Every name is looked up, and what does not exist is told with what does (S1.5, S1.7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

from dataflow import Flow, FlowInvalid, PackError, each
from dataflow.builder.builtin import IF, SWITCH
from dataflow.core.functions import NamedFunction, import_function
from dataflow.core.nodetype import NodeType, derive, opaque_type
from dataflow.core.policy import EachOptions
from dataflow.core.wiring import (
    Block,
    Carried,
    Collect,
    Each,
    Edge,
    Every,
    Fallback,
    Gather,
    Literally,
    LoopBlock,
    LoopTest,
    Many,
    MapBlock,
    Merge,
    Placed,
    PlacedNode,
    Reference,
    Source,
    Wiring,
)


class Parts(NamedTuple):
    title: str
    size: int


async def inc(n: int) -> int:
    return n + 1


async def add(a: int, b: int = 0) -> int:
    return a + b


async def split(n: int) -> Parts:
    return Parts(str(n), n)


async def sums(*numbers: int) -> int:
    return sum(numbers)


TYPES: Mapping[str, Callable[..., Any]] = {"t.inc": inc, "t.add": add, "t.split": split, "t.sums": sums}


def find(id: str) -> NodeType:
    if id == "t.opaque":
        return opaque_type(id)
    if id not in TYPES:
        raise PackError(id, "there is no such type; choices: t.inc, t.add")
    return derive(TYPES[id], id=id)


def block(*placed: Placed, edges: tuple[Edge, ...] = (), **outputs: Source) -> Block:
    return Block({one.id: one for one in placed}, list(edges), dict(outputs))


def built(*placed: Placed, edges: tuple[Edge, ...] = (), **outputs: Source) -> Flow:
    return Flow.from_wiring(Wiring("f", block=block(*placed, edges=edges, **outputs)), find, import_function)


def placed(id: str, type: str = "t.inc", **inputs: Source | Many) -> PlacedNode:
    return PlacedNode(id, type=type, inputs=dict(inputs))


def over(id: str, body: Block, **lists: Source) -> MapBlock:
    return MapBlock(id, over=dict(lists), body=body)


ONE = Literally(1)


LIST = Literally([1, 2])


ITEM = Reference("$item", "x")


@pytest.mark.parametrize(
    ("flow", "problems"),
    [
        (built(placed("a", n=ONE)), []),
        (
            built(placed("a", "t.nothing", n=ONE), placed("b", n=Reference("a", "anything"))),
            ["node 'a': t.nothing: there is no such type; choices: t.inc, t.add"],
        ),
        (built(placed("a", "t.opaque", whatever=ONE), placed("b", n=Reference("a", "anything"))), []),
        (
            built(placed("a", m=ONE)),
            [
                "node 'a' (t.inc) has no input port 'm'; choices: n",
                "port 'a.n' is required and has neither an edge nor a constant",
            ],
        ),
        (
            built(placed("a", n=Reference("b"))),
            ["port 'a.n' reads 'b.out': no node 'b'; choices: a"],
        ),
        (
            built(placed("a", "t.split", n=ONE), placed("b", n=Reference("a", "length"))),
            ["port 'b.n' reads 'a.length': node 'a' has no output port 'length'; choices: out, title, size"],
        ),
        (
            built(placed("a", n=Reference("$in", "x"))),
            ["port 'a.n' reads '$in.x', which does not exist here; there are none"],
        ),
        (
            built(placed("a", n=Reference("$item", "x"))),
            ["port 'a.n' reads '$item.x', which does not exist here; there are none"],
        ),
        (
            built(placed("a", n=ONE), edges=(Edge(Reference("a"), "b", "n"),)),
            ["edge a.out -> b.n: no node 'b' in this block; choices: a"],
        ),
        (
            built(placed("b", n=ONE), placed("a", n=ONE), edges=(Edge(Reference("b"), "a", "n"),)),
            ["port 'a.n' is wired by edges and by a source of its own; use one"],
        ),
        (
            built(placed("a", n=ONE), out=Reference("a", "size")),
            ["output 'out' reads 'a.size': node 'a' has no output port 'size'; choices: out"],
        ),
        (
            built(PlacedNode("a", type="t.inc", inputs={"n": ONE}, after=["b"])),
            ["port 'a.$after' reads 'b.$done': no node 'b'; choices: a"],
        ),
        (
            built(placed("a", n=Merge(()))),
            ["port 'a.n': merge needs at least one source"],
        ),
        (
            built(placed("a", n=Gather(()))),
            ["port 'a.n': gather needs at least one source"],
        ),
        (
            built(placed("a", n=Every(()))),
            ["port 'a.n': every needs at least one source"],
        ),
        (
            built(placed("a", n=Merge((Reference("x"), ONE, Reference("y"))))),
            [
                "port 'a.n' reads 'x.out': no node 'x'; choices: a",
                "port 'a.n' reads 'y.out': no node 'y'; choices: a",
            ],
        ),
        (
            built(placed("a", n=Each(Reference("x"))), placed("b", n=Collect(Reference("y")))),
            [
                "port 'a.n' reads 'x.out': no node 'x'; choices: a, b",
                "port 'b.n' reads 'y.out': no node 'y'; choices: a, b",
            ],
        ),
        (
            built(placed("a", n=Fallback(Reference("x"), ONE))),
            ["port 'a.n' reads 'x.out': no node 'x'; choices: a"],
        ),
        (
            built(placed("a", n=Each(LIST)), over("m", block(placed("a", n=ITEM)), x=LIST)),
            ["node id 'a' shadows a node of an outer block; rename one of them"],
        ),
        (
            built(over("m", block(placed("a", n=ONE)))),
            ["map 'm' goes over nothing: `over` names its lists"],
        ),
        (
            built(placed("a", n=ONE), over("m", block(), x=LIST), edges=(Edge(Reference("a"), "m", "x"),)),
            ["edge a.out -> m.x: 'm' is a map, which is not wired by edges"],
        ),
        (
            built(placed("a", n=ONE), LoopBlock("l", limit=1), edges=(Edge(Reference("a"), "l", "x"),)),
            ["edge a.out -> l.x: 'l' is a loop, which is not wired by edges"],
        ),
        (
            built(over("m", block(placed("a", n=ITEM), y=Reference("a")), x=LIST), z=Reference("m", "z")),
            ["output 'z' reads 'm.z': map 'm' has no output port 'z'; choices: y"],
        ),
        (
            built(LoopBlock("l", limit=1), z=Reference("l", "z")),
            ["output 'z' reads 'l.z': loop 'l' has no output port 'z'; there are none"],
        ),
        (
            built(over("m", block(y=Reference("a")), x=Reference("b"))),
            [
                "'$item.x' of map 'm' reads 'b.out': no node 'b'; choices: m",
                "output 'm.y' reads 'a.out': no node 'a'; choices: m",
            ],
        ),
        (
            built(
                LoopBlock(
                    "l",
                    carries={"x": Carried(Reference("a"), Reference("b"))},
                    test=LoopTest("until", Reference("c")),
                    body=block(y=Reference("d")),
                )
            ),
            [
                "'$carry.x' of loop 'l' reads 'a.out': no node 'a'; choices: l",
                "next value of '$carry.x' of loop 'l' reads 'b.out': no node 'b'; choices: l",
                "the test of loop 'l' reads 'c.out': no node 'c'; choices: l",
                "output 'l.y' reads 'd.out': no node 'd'; choices: l",
            ],
        ),
        (
            built(LoopBlock("l", limit=1, carries={"x": Carried(ONE)})),
            ["'$carry.x' of loop 'l' has no next value"],
        ),
    ],
)
def test_what_cannot_be_looked_up_is_told_with_the_choices(flow: Flow, problems: list[str]) -> None:
    assert flow.check() == problems


async def test_a_flow_that_was_not_looked_into_can_be_checked_but_not_run() -> None:
    flow = built(placed("a", "t.opaque", whatever=ONE), placed("b", n=Reference("a", "anything")))
    assert flow.check() == []
    with pytest.raises(FlowInvalid) as caught:
        await flow.run()
    assert caught.value.problems == ("these were not looked into, so the flow cannot run: t.opaque",)


def test_two_maps_over_one_list_have_the_same_options() -> None:
    flow = Flow()
    xs = flow.input("xs", list[int])
    flow.add(inc, n=each(xs, key=str))
    flow.add(inc, n=each(xs))
    assert flow.check() == [
        (
            "port 'inc_2.n': each($in.xs) has other options than the same each read by 'inc'; "
            "two calls share a map only with equal options"
        )
    ]


def test_functions_that_documents_name_are_looked_up() -> None:
    def none_found(name: str) -> Any:
        raise PackError(name, "there is no such function")

    test = LoopTest("until", Reference("$carry", "x"), NamedFunction("m:test"))
    loop = LoopBlock("l", carries={"x": Carried(ONE, Reference("$carry", "x"))}, test=test)
    nodes: list[Placed] = [
        PlacedNode("when", type=IF, config={"predicate": "m:predicate"}, inputs={"value": ONE}),
        PlacedNode(
            "switch",
            type=SWITCH,
            config={"pick": "m:pick", "cases": ["a"]},
            config_is_json=True,
            inputs={"value": ONE},
        ),
        MapBlock("m", over={"x": LIST}, options=EachOptions(NamedFunction("m:key"))),
        loop,
    ]
    wiring = Wiring("f", block=block(*nodes))
    assert Flow.from_wiring(wiring, find, lambda _name: None).check() == []
    assert Flow.from_wiring(wiring, find, lambda _name: str).check() == []
    assert Flow.from_wiring(wiring, find, none_found).check() == [
        "node 'when', config predicate: m:predicate: there is no such function",
        "node 'switch', config pick: m:pick: there is no such function",
        "map 'm': m:key: there is no such function",
        "the test of loop 'l': m:test: there is no such function",
    ]


def test_equal_problems_are_told_once() -> None:
    flow = built(placed("a", n=Reference("x")), y=Reference("x"), z=Reference("x"))
    assert flow.check() == [
        "port 'a.n' reads 'x.out': no node 'x'; choices: a",
        "output 'y' reads 'x.out': no node 'x'; choices: a",
        "output 'z' reads 'x.out': no node 'x'; choices: a",
    ]


def test_options_are_equal_by_value() -> None:
    assert Each(LIST, EachOptions(str)) == Each(LIST, EachOptions(str)) != Each(LIST)
