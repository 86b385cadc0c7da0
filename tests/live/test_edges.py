"""Maps over edges in live sessions: frames are compared by their indexes (S7.4, S13.4)."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from dataflow import Flow, Paused, RunFailed, collect, each, node
from tests.live.steps import Gate, asking, told, turns
from tests.support.edges import every


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
