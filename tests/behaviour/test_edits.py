"""Runs whose flow, kinds of nodes or inputs are edited before they are resumed (S11.4, B28)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, FlowEdited, FlowInvalid, NodeOutput, Ports, Result, Store, collect, each, node
from dataflow.core.policy import Edited
from tests.behaviour.asks import Home, Place, homes
from tests.behaviour.flow_parts import inc
from tests.behaviour.nodes import counted, ident, tallying
from tests.behaviour.table import states_of

STORES: Final[tuple[Place, ...]] = ("memory", "sqlite")


@counted
async def a() -> str:
    return "a"


@counted
async def b(text: str, answer: str) -> str:
    return f"{text}-{answer}"


@counted
async def c(text: str) -> str:
    return f"c({text})"


def version(*, first: Any = a, last: str = "b", more: bool = False, without_a: bool = False) -> Flow:
    with Flow("versions") as f:
        text = "x" if without_a else f.add(first).out
        asked = f.ask(str, "?", show=text)
        port = f.add(node(b).with_(name=last), text=text, answer=asked.out).out
        f.output("out", f.add(c, text=port).out if more else port)
    return f


async def paused_run(home: Home, flow: Flow | None = None) -> Result:
    paused = await home.placed(flow or version()).run()
    assert [ask.id for ask in paused.asks] == ["ask"]
    return paused


async def test_what_has_not_begun_may_change(tmp_path: Path) -> None:
    for home in homes(tmp_path, STORES):
        with tallying() as tally:
            result = await home.resume(version(more=True), await paused_run(home), {"ask": "y"})
        assert (result["out"], tally.paths, result.warnings) == ("c(a-y)", ["a", "b", "c"], ())
        result = await home.resume(version(last="b2"), await paused_run(home), {"ask": "y"})
        assert (result.status, result["out"], states_of(result)["b2"]) == ("completed", "a-y", "done")


async def test_a_done_node_that_is_removed_or_renamed_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    for home in homes(tmp_path, STORES):
        for edited, name in ((version(without_a=True), "a"), (version(first=node(a).with_(name="a2")), "a2")):
            paused = await paused_run(home)
            with tallying() as tally, pytest.raises(FlowEdited) as caught:
                await home.resume(edited, paused, {"ask": "y"})
            assert name in str(caught.value)
            assert tally.paths == []
            assert [ask.id for ask in (await home.resume(version(), paused, {})).asks] == ["ask"]
            result = await home.resume(version(), paused, {"ask": "y"})
            assert (result.status, result["out"]) == ("completed", "a-y")


async def test_the_caller_may_keep_what_there_is_or_have_it_computed_again(tmp_path: Path) -> None:
    ways: tuple[Edited, ...] = ("keep", "recompute")
    for home in homes(tmp_path, STORES):
        with tallying() as tally:
            paused = await paused_run(home)
            result = await home.resume(version(without_a=True), paused, {"ask": "y"}, edited="keep")
        assert (result.status, result["out"], tally.paths) == ("completed", "x-y", ["a", "b"])
        for way in ways:
            again = await home.resume(version(without_a=True), await paused_run(home), {}, edited=way)
            assert [ask.show for ask in again.asks] == ["a" if way == "keep" else "x"]
            result = await home.resume(version(without_a=True), again, {"ask": "z"})  # no edit any more
            assert result["out"] == "x-z"


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


EDITED: Final[tuple[Edited, ...]] = ("refuse", "keep", "recompute")


def asking(**inputs: Any) -> Flow:
    with Flow("asking") as f:
        asked = f.ask(int, "?")
        for name, given in inputs.items():
            read = f.add(ident, x=f.input(name, *given))
            f.after(read, asked.done)
            f.output(name, read.out)
        f.output("asked", asked.out)
    return f


async def resumed(edited: Flow, way: Edited) -> dict[str, Any]:
    store = Store.memory()
    paused = await asking(number=(int,)).using(store=store).run(number=1)
    before = list(store.records(paused.run_id))
    try:
        result = await edited.using(store=store).resume(paused.run_id, {"ask": 2}, edited=way)
    except FlowInvalid:
        assert list(store.records(paused.run_id)) == before
        assert store.find(paused.run_id).status == "paused"
        raise
    return dict(result.outputs)


async def test_inputs_that_were_removed_or_have_a_default_change_nothing_else() -> None:
    for way in EDITED:
        assert await resumed(asking(), way) == {"asked": 2}
        flow = asking(number=(int,), more=(int, 5))
        assert await resumed(flow, way) == {"asked": 2, "number": 1, "more": 5}


async def test_inputs_without_a_value_or_of_another_type_are_refused_and_the_run_stays() -> None:
    for way in EDITED:
        with pytest.raises(FlowInvalid, match="DF0820 input 'more':"):
            await resumed(asking(number=(int,), more=(int,)), way)
        with pytest.raises(FlowInvalid, match="DF0601 input 'number':"):
            await resumed(asking(number=(str,)), way)
