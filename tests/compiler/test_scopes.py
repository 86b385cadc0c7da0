"""Scopes, cycles and names: where each node fires, and what is not found (S1.5, S2, S6.3, S7.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from dataflow import Diagnostic, Flow, FlowInvalid, PackError, RunFailed, collect, each, node
from dataflow.compiler.addresses import address_of, form_of, scopes_of
from dataflow.core import wiring as w
from dataflow.core.events import EventKind
from dataflow.core.functions import import_function
from dataflow.core.nodetype import NodeType, derive, opaque_type
from dataflow.diagnostics.diagnostic import Kind
from tests.compiler.typed_nodes import add, inc, total
from tests.properties.playing import flow_of
from tests.properties.random_flows import sample
from tests.support.codes import codes

Wire = Callable[[Flow], object]


def two_maps_at_once(flow: Flow) -> None:
    flow.add(add, a=each(flow.input("xs", list[int])), b=each(flow.input("ys", list[int])))


def loop_over_two_maps(flow: Flow) -> None:
    with flow.loop(limit=1) as it:
        carry = it.carry(each(flow.input("xs", list[int])))
        carry.next(flow.add(add, a=carry.out, b=each(flow.input("ys", list[int]))).out)
    flow.output("y", collect(carry.final))


def collect_too_often(flow: Flow) -> None:
    flow.output("y", collect(collect(flow.add(inc, n=each(flow.input("xs", list[int]))).out)))


def collect_a_round(flow: Flow) -> None:
    with flow.loop(limit=1) as it:
        carry = it.carry(0)
        carry.next(flow.add(total, numbers=collect(carry.out)).out)


def output_of_each(flow: Flow) -> None:
    flow.output("y", each(flow.input("xs", list[int])))


REFUSED: dict[Wire, list[str]] = {
    two_maps_at_once: ["DF0320 add"],
    loop_over_two_maps: ["DF0319 loop"],
    collect_too_often: ["DF0321 outputs.y"],
    collect_a_round: ["DF0321 total.numbers"],
    output_of_each: ["DF0319 outputs.y"],
}


def test_impossible_scopes_are_problems() -> None:
    for wire, problems in REFUSED.items():
        flow = Flow()
        wire(flow)
        assert codes(flow.check()) == problems


@pytest.mark.parametrize("first", range(0, 40, 10))
async def test_every_firing_is_at_the_address_of_a_node_and_has_the_form_of_one(first: int) -> None:
    for seed in range(first, first + 10):
        await check_paths(seed)


async def check_paths(seed: int) -> None:
    program = sample(seed)
    flow = flow_of(program.document)
    paths = set[str]()
    try:
        async with flow.start(**program.inputs) as run:
            async for event in run.events():
                if event.kind == EventKind.NODE_FINISHED:
                    paths.add(str(event.path))
    except RunFailed:
        pass  # its firings have paths too
    known = [
        (scope, node) for scope in scopes_of(flow.compile()) for node in scope.plan.nodes if node.is_visible
    ]
    forms = [scope.form_of(node) for scope, node in known]
    assert paths
    assert {address_of(path) for path in paths} <= {scope.address_of(node) for scope, node in known}
    assert {form_of(path) for path in paths} <= {*forms}
    assert len({*forms}) == len(forms)


def sub(*inner: str) -> Flow:
    with Flow("sub") as f:
        port = f.input("n", int)
        for name in inner:
            port = f.add(node(inc).with_(name=name), n=port).out
        f.output("out", port)
    return f


def mapped(inner: str, after: str) -> Flow:
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


async def later(n: int = 0, m: int = 0) -> int:
    return n + m


def by_name(*edges: tuple[str, str]) -> Wire:
    def wire(flow: Flow) -> None:
        for _ in range(3):
            flow.add(later)
        for source, target in edges:
            flow.connect(source, target)

    return wire


def through_after(flow: Flow) -> None:
    first, second = flow.add(later), flow.add(later)
    flow.after(first, second.done)
    flow.after(second, first.done)


def through_a_loop(flow: Flow) -> None:
    flow.add(later)
    with flow.loop(limit=1) as it:
        carry = it.carry(0)
        carry.next(carry.out)
        flow.add(later)
        flow.connect("later", "later_2.n")
    flow.output("y", carry.final)
    flow.connect("loop.carry", "later.n")


BACK_AND_FORTH = (("later", "later_2.n"), ("later_2", "later.n"))
CYCLES: list[tuple[Wire, str]] = [
    (by_name(*BACK_AND_FORTH), "later -> later_2 -> later"),
    (
        by_name(("later_2", "later_3.n"), ("later_3", "later_2.n"), ("later_3", "later.n")),
        "later_2 -> later_3 -> later_2",
    ),
    (through_after, "later -> later_2 -> later"),
    (through_a_loop, "later -> loop -> later"),
]


def test_all_nodes_of_a_cycle_are_reported() -> None:
    for wire, cycle in CYCLES:
        flow = Flow()
        wire(flow)
        (problem,) = flow.check()
        assert isinstance(problem, Diagnostic)
        assert (problem.code, problem.details) == ("DF0316", (("nodes", cycle),))


async def test_a_collected_item_is_the_item() -> None:
    with Flow() as flow:
        flow.output("y", collect(each(flow.input("xs", list[int]))))
    assert (await flow.run(xs=[1, 2]))["y"] == [1, 2]


NOWHERE = Kind("DF9999", "is not there")
TYPES: Mapping[str, Callable[..., Any]] = {"t.inc": inc, "t.add": add}


def find(id: str) -> NodeType:
    if id == "t.opaque":
        return opaque_type(id)
    if id not in TYPES:
        raise PackError(id, NOWHERE())
    return derive(TYPES[id], id=id)


def block(*placed: w.Placed, edges: tuple[w.Edge, ...] = (), **outputs: w.Source) -> w.Block:
    return w.Block({one.id: one for one in placed}, list(edges), dict(outputs))


def built(*placed: w.Placed, edges: tuple[w.Edge, ...] = (), **outputs: w.Source) -> Flow:
    return Flow.from_wiring(
        w.Wiring("f", block=block(*placed, edges=edges, **outputs)), find, import_function
    )


def placed(id: str, type: str = "t.inc", **inputs: w.Source | w.Many) -> w.PlacedNode:
    return w.PlacedNode(id, type=type, inputs=dict(inputs))


def over(id: str, body: w.Block, **lists: w.Source) -> w.MapBlock:
    return w.MapBlock(id, over=dict(lists), body=body)


def told(flow: Flow) -> list[str]:
    """Return code, place and available names of each problem."""
    found = flow.check()
    return [" ".join([one.code, one.place, *(one.available or ())]) for one in found]


ONE = w.Literally(1)
LIST = w.Literally([1, 2])
ITEM = w.Reference("$item", "x")
X, Y = w.Reference("x"), w.Reference("y")
INTO_M = (w.Edge(w.Reference("a"), "m", "x"),)

UNKNOWN: list[tuple[Flow, list[str]]] = [
    (built(placed("a", "t.nothing", n=ONE), placed("b", n=w.Reference("a", "anything"))),
        ["DF9999 a: t.nothing"]),
    (built(placed("a", m=ONE)), ["DF0302 a.m n", "DF0301 a.n"]),
    (built(placed("a", n=ITEM)), ["DF0303 a.n"]),
    (built(placed("b", n=ONE), placed("a", n=ONE), edges=(w.Edge(w.Reference("b"), "a", "n"),)),
        ["DF0306 a.n"]),
    (built(placed("a", n=ONE), out=w.Reference("a", "size")), ["DF0302 outputs.out out"]),
    (built(w.PlacedNode("a", type="t.inc", inputs={"n": ONE}, after=["b"])), ["DF0303 a.$after a"]),
    (built(placed("a", n=w.Gather(()))), ["DF0318 a.n"]),
    (built(placed("a", n=w.Merge((X, ONE, Y)))), ["DF0303 a.n a", "DF0303 a.n a"]),
    (built(placed("a", n=w.Each(X)), placed("b", n=w.Collect(Y))), ["DF0303 a.n a b", "DF0303 b.n a b"]),
    (built(placed("a", n=w.Fallback(X, ONE))), ["DF0303 a.n a"]),
    (built(placed("a", n=w.Each(LIST)), over("m", block(placed("a", n=ITEM)), x=LIST)), ["DF0313 a"]),
    (built(placed("a", n=ONE), over("m", block(), x=LIST), edges=INTO_M), ["DF0305 m.x"]),
    (built(over("m", block(placed("a", n=ITEM), y=w.Reference("a")), x=LIST), z=w.Reference("m", "z")),
        ["DF0302 outputs.z y"]),
    (built(w.LoopBlock("l", limit=1), z=w.Reference("l", "z")), ["DF0302 outputs.z"]),
    (built(over("m", block(y=Y), x=X)), ["DF0303 m.over.x m", "DF0303 m.y m"]),
    (built(w.LoopBlock("l", carries={"x": w.Carried(X, Y)}, test=w.LoopTest("until", w.Reference("c")),
                body=block(y=w.Reference("d")))),
        ["DF0303 l.carry.x l", "DF0303 l.carry.x.next l", "DF0303 l.until l", "DF0303 l.y l"]),
]  # fmt: skip


def test_what_cannot_be_looked_up_is_reported_with_what_is_available() -> None:
    assert [told(flow) for flow, _ in UNKNOWN] == [problems for _, problems in UNKNOWN]


async def test_a_flow_that_was_not_inspected_can_be_checked_but_not_run() -> None:
    flow = built(placed("a", "t.opaque", whatever=ONE), placed("b", n=w.Reference("a", "anything")))
    assert flow.check() == []
    with pytest.raises(FlowInvalid, match="DF0317"):
        await flow.run()
