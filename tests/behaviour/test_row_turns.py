"""Rows of firings that never wait leave others their turn, and are told as any (S14, S9.2)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby, pairwise
from math import inf
from typing import Any

import pytest
from anyio.lowlevel import checkpoint

from dataflow import EventKind, Flow, Run, node
from dataflow.runtime.workers import QuickCalls, Workers
from tests.behaviour.rows import inc, one
from tests.support.source import home_of
from tests.support.steady import end_slices_after, warn_of_blocking


def wired(f: Flow, names: str, function: Callable[[str], Any], start: Any = 0) -> None:
    """Wire a chain of one node a name."""
    port: Any = start
    for name in names:
        port = f.add(node(function(name)).with_(name=name), x=port).out
    f.output(names, port)


# turns


class SlowClock:
    """A clock on which a look takes a thousandth of a second: a slice is over after a few firings."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@pytest.fixture
def slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SlowClock()
    end_slices_after(monkeypatch, 0.005)
    for owner in (QuickCalls, Workers):
        monkeypatch.setattr(home_of(owner), "perf_counter", clock)


@pytest.mark.usefixtures("slow_clock")
async def test_two_rows_take_turns() -> None:
    fired: list[str] = []

    def noting(name: str) -> Any:
        async def notes(x: int) -> int:
            fired.append(name)
            return x

        return notes

    f = Flow()
    with f:
        for side in "ab":
            port: Any = f.input(side, int, 0)
            for number in range(100):
                port = f.add(node(noting(side)).with_(name=f"{side}{number}"), x=port).out
    await f.run()
    turns = [(side, len(list(times))) for side, times in groupby(fired)]
    assert len(fired) == 200
    assert {before[0] != after[0] for before, after in pairwise(turns)} == {True}
    assert max(times for _, times in turns) <= 10


# what blocks the event loop


async def blockers(f: Flow) -> list[str]:
    """Run a flow, and name the nodes that are told to block the event loop, one after the other."""
    async with f.start() as run:
        events = [event async for event in run.events()]
    told = [one for one in events if one.kind is EventKind.WARNING and one.data["code"] == "loop_blocked"]
    assert all(event.data["text"].startswith(f"DF0842 {event.path}: ") for event in told)
    return [path for path, _ in groupby(event.path for event in told)]


async def test_each_node_of_a_row_that_blocks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """In its first step, in a later one, and if it raises."""
    warn_of_blocking(monkeypatch, above=-1.0)
    with Flow() as f:
        wired(f, "abc", lambda _: inc)
    assert await blockers(f) == ["a", "b", "c"]

    async def blocks_later(x: int) -> int:
        await checkpoint()
        warn_of_blocking(monkeypatch, above=-1.0)
        await checkpoint()
        return x

    async def blocks_no_more(x: int) -> int:
        warn_of_blocking(monkeypatch, above=inf)
        return x

    async def blocks_and_raises(x: int) -> int:
        warn_of_blocking(monkeypatch, above=-1.0)
        raise ValueError(x)

    warn_of_blocking(monkeypatch, above=inf)
    functions = {"c": blocks_later, "d": blocks_no_more}
    with Flow() as f:
        wired(f, "abcde", lambda name: functions.get(name, inc))
    assert await blockers(f) == ["c"]
    warn_of_blocking(monkeypatch, above=inf)
    with Flow() as f:
        port = f.add(node(blocks_and_raises).with_(on_error="skip"), x=f.add(one).out).out
        f.add(inc, x=port)
    assert await blockers(f) == ["blocks_and_raises"]


# who listens


async def test_a_listener_that_comes_and_goes_in_a_row_hears_what_happens_meanwhile() -> None:
    runs, streams, heard = list[Run](), list[Any](), list[str]()

    async def comes(x: int) -> int:
        streams.append(runs[0].events())
        return x

    async def goes(x: int) -> int:
        stream = streams.pop(0)
        heard.extend(
            [f"{event.seq} {event.kind} {event.path}" for event in [await anext(stream) for _ in range(6)]]
        )
        return x

    functions = {"b": comes, "e": goes, "g": comes}
    with Flow() as f:
        wired(f, "abcdefgh", lambda name: functions.get(name, inc))
    async with f.start() as run:
        runs.append(run)
        await run
    assert heard == [
        "1 node_finished b", "2 node_started c", "3 node_finished c", "4 node_started d", "5 node_finished d",
        "6 node_started e",
    ]  # fmt: skip
    assert [f"{event.seq} {event.kind} {event.path}" async for event in streams[0]] == [
        "7 node_finished g", "8 node_started h", "9 node_finished h", "10 run_finished ",
    ]  # fmt: skip
