"""F-C06: a loop, map or subflow in which nothing but open asks is left has paused, in every report."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from dataflow import Flow, Paused, Store, collect, each
from dataflow.durable.journal_view import fold
from dataflow.inspection.stored_run import read_run, stored_nodes


async def same(x: Any) -> Any:
    return x


def asks(flow: Flow, show: Any = None) -> Any:
    return flow.ask(bool, "?", name="q", show=show).out


def in_a_subflow() -> Flow:
    with Flow("sub") as sub:
        sub.output("o", sub.add(same, x=asks(sub)).out)
    with Flow("outer") as outer:
        outer.output("o", outer.add(sub).out.o)
    return outer


def in_a_loop() -> Flow:
    with Flow("looped") as flow:
        with flow.loop(limit=2) as loop:
            carried = loop.carry(True)
            carried.next(asks(flow, carried.out))
        flow.output("o", carried.final)
    return flow


def in_a_map() -> Flow:
    with Flow("mapped") as flow:
        flow.output("o", collect(asks(flow, flow.add(same, x=each([True, False])).out)))
    return flow


def in_a_loop_in_a_map() -> Flow:
    with Flow("nested") as flow:
        item = flow.add(same, x=each([True]))
        with flow.loop(limit=2) as loop:
            carried = loop.carry(item.out)
            carried.next(asks(flow, carried.out))
        flow.output("o", collect(carried.final))
    return flow


def beside_one_that_waits() -> Flow:
    with Flow("waits") as flow:
        outside = asks(flow)
        with flow.loop(limit=2) as loop:
            carried = loop.carry(True)
            carried.next(flow.add(same, x=outside).out)
        flow.output("o", carried.final)
    return flow


FLOWS = [in_a_subflow, in_a_loop, in_a_map, in_a_loop_in_a_map, beside_one_that_waits]


@pytest.mark.parametrize("made", FLOWS)
async def test_blocks_around_an_open_ask_have_paused(made: Any) -> None:
    store = Store.memory()
    result = await made().using(store=store).run()
    again = await made().using(store=store).resume(result.run_id)
    assert "running" not in [state.value for state in result.states.values()]
    assert result.states == again.states
    stored = {
        one.path: one.state
        for one in stored_nodes(fold(result.run_id, store.records(result.run_id), "s"), "paused")
    }
    assert {path: result.states[path].value for path in stored} == stored
    for path, state in result.states.items():
        assert f"{path} is {state.value}" in result.why(path)


@pytest.mark.parametrize("made", FLOWS[:-1])
async def test_they_have_while_the_run_is_executed(made: Any) -> None:
    store = Store.memory()
    with Flow("beside") as flow:
        inner = made()
        flow.output("asked", flow.add(inner).out.o)
        with flow.loop(limit=2) as loop:
            carried = loop.carry(None)
            carried.next(flow.add(anyio.sleep_forever).out)
        flow.output("o", carried.final)
    async with flow.using(store=store).start() as run:
        begun: set[Any] = set()
        async for event in run.events():
            begun.add(event.kind if event.kind == "ask_opened" else event.path)
            if {"ask_opened", "loop[0]/sleep_forever"} <= begun:
                break
        found = read_run(store, store.find(run.id))
        await run.cancel()
    for status in ("running", "interrupted"):
        states = {one.path: one.state for one in stored_nodes(found.past, status)}
        inside = {path: state for path, state in states.items() if path.partition("[")[0] != "loop"}
        assert inside[inner.name] == "paused"
        assert set(inside.values()) <= {"paused", "done"}
        assert (states["loop"], states["loop[0]/sleep_forever"]) == (status, status)


async def test_a_live_session_says_the_same() -> None:
    async with in_a_subflow().live() as session:
        with pytest.raises(Paused) as paused:
            await session.get("o")
        assert paused.value.result.states["sub"].value == "paused"
