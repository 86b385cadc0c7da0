"""No two nodes have the same path: ids in a map differ from those in the subflow that names it (S2.2)."""

from __future__ import annotations

from dataflow import Flow, collect, each, node
from dataflow_control import approval
from tests.compiler.typed_nodes import inc
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
