"""Nodes that are of another kind when their run is resumed, or have other ports (S11.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dataflow import Flow, NodeOutput, Ports, Store, collect, each, node
from dataflow.core.policy import Edited
from tests.behaviour.flow_parts import inc

#: Places a node called `n`, which is given a number, and returns what it gives.
Placed = Callable[[Flow, Any], Any]


def call(f: Flow, x: Any) -> Any:
    return f.add(node(inc).with_(name="n"), x=x).out


def ask(f: Flow, x: Any) -> Any:
    return f.ask(int, "?", show=x, name="n").out


def raw_ask(f: Flow, x: Any) -> Any:
    async def asks() -> NodeOutput:
        return NodeOutput({"given": 1}, status="paused", metadata={"ask": {}})

    ports = Ports({"x": int}, {"given": int, "out": int})
    return f.add(node(ports=lambda _: ports, name="n")(asks), x=x).out.out


def flow(f: Flow, x: Any) -> Any:
    with Flow("inner") as inner:
        inner.output("y", inner.add(inc, x=inner.input("x", int)).out)
    return f.add(inner.with_(name="n"), x=x).out.y


def loop(f: Flow, x: Any) -> Any:
    with f.loop(limit=2, name="n") as it:
        carried = it.carry(x)
        step = f.add(node(inc).with_(name="step"), x=carried.out)
        carried.next(step.out)
        return it.result(step.out)


def mapped(f: Flow, x: Any) -> Any:
    @node(name="list")
    async def listed(x: int) -> list[int]:
        return [x, x + 1]

    @node(name="sum")
    async def summed(xs: list[int]) -> int:
        return sum(xs)

    each_of = each(f.add(listed, x=x).out)
    return f.add(summed, xs=collect(f.add(node(inc).with_(name="n"), x=each_of).out)).out


async def begun_as(placed: Placed, store: Store, other: Placed, edited: Edited) -> Mapping[str, Any]:
    """Pause a run of a flow, and go on with it as another flow until its end; one more ask keeps it open."""

    def wired(place: Placed) -> Flow:
        with Flow("kinds") as f:
            f.output("n", place(f, f.input("x", int)))
            f.output("last", f.ask(int, "?", name="last").out)
        return f.using(store=store)

    paused = await wired(placed).run(x=1)
    result = await wired(other).resume(paused, {"last": 0}, edited=edited)
    assert result.status == "completed"
    return result.outputs


async def test_what_was_asked_or_given_is_done_by_the_node_that_is_there_now() -> None:
    ways: tuple[Edited, ...] = ("refuse", "keep", "recompute")
    others: tuple[tuple[Placed, int], ...] = ((flow, 2), (loop, 3), (mapped, 5))
    for other, given in (*others, (call, 2)):
        for asking in (ask, raw_ask):
            for edited in ways:
                assert (await begun_as(asking, Store.memory(), other, edited))["n"] == given
    for other, given in others:  # a value that is none of the new ports is not kept
        assert (await begun_as(call, Store.memory(), other, "keep"))["n"] == given
