"""What an update does to what is running, also to maps over edges (S7.4, S13.4)."""

from __future__ import annotations

import threading
from typing import Any

import anyio
import pytest

from dataflow import Flow, Paused, Retry, RunFailed, collect, each, node, threaded
from dataflow.live.session import Live
from tests.live.steps import Gate, asking, one_node, told, turns
from tests.support.quick_nodes import every


def noting(name: str, calls: list[str]) -> Any:
    async def noted(x: int) -> int:
        calls.append(f"{name}({x})")
        await turns(1)
        if x < 0:
            raise ValueError(f"bad {x}")
        return x + 1

    return node(noted).with_(name=name)


def meeting(calls: list[str]) -> Flow:
    """Meet twice: two inputs, then what came of that with the items of a list."""
    with Flow("meeting") as f:
        a, b, xs = f.input("a", int), f.input("b", int), f.input("xs", list[int])
        met = f.add(noting("met", calls), x=every(a, f.when(b, lambda b: b > 0).yes))
        more = f.add(noting("more", calls), x=every(met.out, each(xs)))
        f.output("met", met.out)
        f.output("more", more.out)
    return f


async def test_what_an_update_does_not_reach_is_not_called_again() -> None:
    calls: list[str] = []
    async with meeting(calls).live(a=1, b=10, xs=[5, 6]) as session:
        assert await session.get("more") == [3, 12, 6, 7]
        calls.clear()
        await session.update(b=20)
        assert await session.get("more") == [3, 22, 6, 7]
        assert calls == ["met(20)", "more(21)"]
        calls.clear()
        await session.update(b=0)
        assert await session.get("more") == [3, 6, 7]
        await session.update(xs=[5])
        assert await session.get("more") == [3, 6]
        assert calls == []
        await session.update(xs=[])
        assert (await session.get("more"), await session.get("met")) == ([3], [2])


async def test_a_failure_of_a_frame_stays_until_its_edge_changes() -> None:
    calls: list[str] = []
    async with meeting(calls).live(a=-1, b=10, xs=[]) as session:
        with pytest.raises(RunFailed, match="bad -1"):
            await session.get("more")
        await session.update(a=1)
        assert await session.get("more") == [3, 12]


async def test_a_map_that_waits_for_an_edge_is_overtaken() -> None:
    gate = Gate(lambda value: value == 1)

    async def slow(x: int) -> int:
        await gate.passed(x)
        return x

    with Flow("f") as f:
        f.output("o", f.add(noting("met", []), x=every(f.add(slow, x=f.input("a", int)).out, 7)).out)
    with anyio.fail_after(60):
        async with f.live(a=1) as session, asking(session, "o") as got:
            await gate.reached()
            await turns()
            await session.update(a=2)
    assert got == [[3, 8]]


async def test_an_ask_in_a_frame_is_answered() -> None:
    with Flow("f") as f:
        asked = f.ask(int, "More?", show=every(f.input("a", int), 7))
        f.output("o", collect(asked.out))
    async with f.live(a=1) as session:
        with pytest.raises(Paused) as paused:
            await session.get("o")
        assert [ask.id for ask in paused.value.result.asks] == ["ask[0]", "ask[1]"]
        await session.answer({"ask[0]": 5, "ask[1]": 6})
        assert await told(session.get("o")) == [5, 6]
        await session.update(a=2)
        with pytest.raises(Paused) as again:
            await session.get("o")
        assert [ask.id for ask in again.value.result.asks] == ["ask[0]"]


def gated(gate: Gate, **settings: Any) -> Any:
    async def call(x: int) -> int:
        await gate.passed(x)
        return x

    return node(**settings)(call)


def through(gate: Gate, **settings: Any) -> Flow:
    with Flow("f") as flow:
        x, y = flow.input("x", int), flow.input("y", int, 0)
        flow.output("gated", flow.add(gated(gate, **settings), x=x).out)
        flow.output("beside", flow.add(gated(gate).with_(name="beside"), x=y).out)
    return flow


def effect_of(gate: Gate, *, fails: bool, **settings: Any) -> Any:
    async def effect(x: int) -> int:
        await gate.passed(x)
        if fails:
            raise ValueError(x)
        return x

    return node(effect=True, **settings)(effect)


async def test_an_effect_is_not_cut_short_and_is_reused_for_the_same_inputs() -> None:
    for fails in (False, True):
        gate = Gate()
        flow = one_node(effect_of(gate, fails=fails))
        async with flow.live(x=1) as session, asking(session, "y") as got:
            await gate.reached()
            await session.update(x=2)
            await session.update(x=1)
            gate.open()
        assert gate.calls == gate.ended == [1]
        assert ("ValueError: 1" in got[0]) if fails else (got == [1])


async def test_an_effect_that_changes_its_own_input_ends_first() -> None:
    told: list[str] = []
    found: list[Live] = []

    async def effect(x: int) -> int:
        told.append(f"begins {x}")
        await found[0].update(x=2)
        await turns(1)
        told.append(f"ends {x}")
        return x

    async with one_node(node(effect=True)(effect)).live(x=1) as session:
        found.append(session)
        assert await session.get("y") == 2
    assert told == ["begins 1", "ends 1", "begins 2", "ends 2"]


async def test_what_waits_for_a_slot_is_given_the_newest() -> None:
    gate = Gate(lambda x: x == 7)
    flow = through(gate).using(max_concurrency=1)
    async with flow.live(x=1, y=7) as session, asking(session, "beside") as got:
        await gate.reached()
        async with asking(session, "gated") as queued:
            await turns()
            for x in (2, 3):
                await session.update(x=x)
                await turns()
            gate.open()
    assert (got, queued, gate.calls) == ([7], [3], [7, 3])


async def test_what_waits_for_its_next_attempt_is_given_up_with_all_its_timers() -> None:
    calls: list[int] = []
    gate = Gate()

    async def flaky(x: int) -> int:
        calls.append(x)
        if x == 1:
            raise ValueError(x)
        return x

    with Flow("f") as flow:
        retry = Retry(retries=9, backoff="fixed", first=1_000)
        flow.output("y", flow.add(node(retries=retry, deadline=9_999)(flaky), x=flow.input("x", int)).out)
        flow.output("beside", flow.add(gated(gate), x=0).out)
    async with flow.live(x=1) as session, asking(session, "y", "beside") as got:
        await turns()
        assert calls == [1]
        await session.update(x=2)
        await turns()
        assert got == [2]
        assert not session._engine.scheduler.timers._open
        gate.open()
    assert calls == [1, 2]


async def test_a_thread_that_was_given_up_gives_its_slot_back() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def block(x: int) -> int:
        if x == 1:
            begun.set()
            go_on.wait()
        return x

    async with one_node(threaded(block)).using(max_concurrency=1).live(x=1) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(session.get, "y")
            while not begun.is_set():
                await turns(1)
            group.cancel_scope.cancel()
        await session.update(x=2)
        await turns()
        go_on.set()
        assert await session.get("y") == 2


async def test_the_result_of_a_replaced_function_is_not_that_of_the_new_one() -> None:
    async def new(x: int) -> str:
        return f"new {x}"

    for effect in (False, True):
        sessions: list[Live] = []

        async def old(x: int) -> str:
            await sessions[0].replace("old", node(effect=effect)(new))  # noqa: B023 - called in this round
            return f"old {x}"

        async with one_node(node(effect=effect)(old)).live(x=1) as session:
            sessions.append(session)
            assert await session.get("y") == "new 1"
            assert session.counts.called == 2
