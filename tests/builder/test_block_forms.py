"""Loops and maps in block form, and what shares or keeps its edges (S1.5, S7.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dataflow import Flow, PackError, fallback, gather, merge, node
from dataflow.core.functions import import_function
from dataflow.core.nodetype import NodeType, derive, opaque_type
from dataflow.core.wiring import (
    Block,
    Carried,
    Edge,
    Literally,
    LoopBlock,
    LoopTest,
    Many,
    MapBlock,
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


async def test_a_map_in_block_form_goes_over_zipped_lists() -> None:
    body = block(
        placed("sum", "t.add", a=Reference("$item", "x"), b=Reference("$item", "y")),
        placed("more", n=Reference("sum")),
        total=Reference("more"),
        x=Reference("$item", "x"),
        outside=Reference("base"),
        constant=ONE,
    )
    flow = built(
        placed("base", n=ONE),
        over("m", body, x=LIST, y=Literally([10, 20])),
        totals=Reference("m", "total"),
        xs=Reference("m", "x"),
        outside=Reference("m", "outside"),
        constant=Reference("m", "constant"),
    )
    assert flow.check() == []
    result = await flow.run()
    assert dict(result.outputs) == {"totals": [12, 23], "xs": [1, 2], "outside": [2, 2], "constant": [1, 1]}
    assert list(result.states) == ["base", "m", "m[0]/sum", "m[0]/more", "m[1]/sum", "m[1]/more"]


async def test_a_loop_in_block_form_reads_its_carried_ports() -> None:
    loop = LoopBlock(
        "l",
        limit=3,
        carries={"x": Carried(ONE, Reference("a"))},
        test=LoopTest("until", Literally(False)),
        body=block(
            placed("a", n=Reference("$carry", "x")), final=Reference("$carry", "x"), last=Reference("a")
        ),
    )
    flow = built(loop, final=Reference("l", "final"), last=Reference("l", "last"))
    assert flow.check() == []
    assert dict((await flow.run()).outputs) == {"final": 3, "last": 4}


async def test_names_are_looked_up_outwards() -> None:
    inner = over(
        "inner", block(placed("b", "t.add", a=Reference("$item", "y"), b=ITEM), z=Reference("b")), y=LIST
    )
    flow = built(
        over("outer", block(inner, z=Reference("inner", "z")), x=Literally([10, 20])),
        z=Reference("outer", "z"),
    )
    assert (await flow.run())["z"] == [[11, 12], [21, 22]]


async def test_a_many_port_takes_sources_of_every_kind() -> None:
    with Flow() as flow:
        step = flow.add(inc, n=1)
        total = flow.add(sums, step.out, 10, merge(step.out, 5), fallback(step.out, 0))
        flow.output("total", total.out)
        flow.output("list", gather(step.out, 10))
    assert dict((await flow.run()).outputs) == {"total": 16, "list": [2, 10]}


async def test_parallel_edges_are_kept_in_their_order() -> None:
    async def text(*parts: str) -> str:
        return "".join(parts)

    async def letter(value: str) -> str:
        return value

    with Flow() as flow:
        for name in "abc":
            flow.add(node(letter).with_(name=name), value=name)
        joined = flow.add(text)
        for name in "caab":
            flow.connect(name, "text.parts")
        flow.output("text", joined.out)
    assert (await flow.run())["text"] == "caab"
