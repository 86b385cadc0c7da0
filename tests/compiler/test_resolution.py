"""Every name is looked up; an unknown one is reported with the names available (S1.5, S1.7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from dataflow import Flow, FlowInvalid, PackError
from dataflow.core.functions import import_function
from dataflow.core.nodetype import NodeType, derive, opaque_type
from dataflow.core.wiring import (
    Block,
    Carried,
    Collect,
    Each,
    Edge,
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
)  # fmt: skip
from dataflow.diagnostics.diagnostic import Kind
from tests.compiler.typed_nodes import add, inc

NOWHERE = Kind("DF9999", "is not there")
TYPES: Mapping[str, Callable[..., Any]] = {"t.inc": inc, "t.add": add}


def find(id: str) -> NodeType:
    if id == "t.opaque":
        return opaque_type(id)
    if id not in TYPES:
        raise PackError(id, NOWHERE())
    return derive(TYPES[id], id=id)


def block(*placed: Placed, edges: tuple[Edge, ...] = (), **outputs: Source) -> Block:
    return Block({one.id: one for one in placed}, list(edges), dict(outputs))


def built(*placed: Placed, edges: tuple[Edge, ...] = (), **outputs: Source) -> Flow:
    return Flow.from_wiring(Wiring("f", block=block(*placed, edges=edges, **outputs)), find, import_function)


def placed(id: str, type: str = "t.inc", **inputs: Source | Many) -> PlacedNode:
    return PlacedNode(id, type=type, inputs=dict(inputs))


def over(id: str, body: Block, **lists: Source) -> MapBlock:
    return MapBlock(id, over=dict(lists), body=body)


def told(flow: Flow) -> list[str]:
    """Return code, place and available names of each problem."""
    found = flow.check()
    return [" ".join([one.code, one.place, *(one.available or ())]) for one in found]


ONE = Literally(1)
LIST = Literally([1, 2])
ITEM = Reference("$item", "x")
X, Y = Reference("x"), Reference("y")
INTO_M = (Edge(Reference("a"), "m", "x"),)

REFUSED: list[tuple[Flow, list[str]]] = [
    (
        built(placed("a", "t.nothing", n=ONE), placed("b", n=Reference("a", "anything"))),
        ["DF9999 a: t.nothing"],
    ),
    (built(placed("a", m=ONE)), ["DF0302 a.m n", "DF0301 a.n"]),
    (built(placed("a", n=ITEM)), ["DF0303 a.n"]),
    (built(placed("b", n=ONE), placed("a", n=ONE), edges=(Edge(Reference("b"), "a", "n"),)), ["DF0306 a.n"]),
    (built(placed("a", n=ONE), out=Reference("a", "size")), ["DF0302 outputs.out out"]),
    (built(PlacedNode("a", type="t.inc", inputs={"n": ONE}, after=["b"])), ["DF0303 a.$after a"]),
    (built(placed("a", n=Gather(()))), ["DF0318 a.n"]),
    (built(placed("a", n=Merge((X, ONE, Y)))), ["DF0303 a.n a", "DF0303 a.n a"]),
    (built(placed("a", n=Each(X)), placed("b", n=Collect(Y))), ["DF0303 a.n a b", "DF0303 b.n a b"]),
    (built(placed("a", n=Fallback(X, ONE))), ["DF0303 a.n a"]),
    (built(placed("a", n=Each(LIST)), over("m", block(placed("a", n=ITEM)), x=LIST)), ["DF0313 a"]),
    (built(placed("a", n=ONE), over("m", block(), x=LIST), edges=INTO_M), ["DF0305 m.x"]),
    (
        built(over("m", block(placed("a", n=ITEM), y=Reference("a")), x=LIST), z=Reference("m", "z")),
        ["DF0302 outputs.z y"],
    ),
    (built(LoopBlock("l", limit=1), z=Reference("l", "z")), ["DF0302 outputs.z"]),
    (built(over("m", block(y=Y), x=X)), ["DF0303 m.over.x m", "DF0303 m.y m"]),
    (
        built(
            LoopBlock(
                "l",
                carries={"x": Carried(X, Y)},
                test=LoopTest("until", Reference("c")),
                body=block(y=Reference("d")),
            )
        ),
        ["DF0303 l.carry.x l", "DF0303 l.carry.x.next l", "DF0303 l.until l", "DF0303 l.y l"],
    ),
]


def test_what_cannot_be_looked_up_is_reported_with_what_is_available() -> None:
    assert [told(flow) for flow, _ in REFUSED] == [problems for _, problems in REFUSED]


async def test_a_flow_that_was_not_inspected_can_be_checked_but_not_run() -> None:
    flow = built(placed("a", "t.opaque", whatever=ONE), placed("b", n=Reference("a", "anything")))
    assert flow.check() == []
    with pytest.raises(FlowInvalid, match="DF0317"):
        await flow.run()
