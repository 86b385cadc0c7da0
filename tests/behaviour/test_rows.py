"""Rows of firings that never wait: unseen by one another, and others have their turn (S9.2, S14)."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from itertools import groupby, pairwise
from math import inf
from typing import Any

import pytest
from anyio import Event, create_task_group
from anyio.lowlevel import checkpoint

from dataflow import SKIP, EventKind, Flow, Maybe, NodeState, Run, collect, each, node, this_firing
from dataflow.runtime.workers import QuickCalls, Workers
from tests.behaviour.nodes import fails
from tests.behaviour.rows import row
from tests.behaviour.table import failed_run, states_of
from tests.support.quick_nodes import inc, one
from tests.support.source import home_of
from tests.support.steady import end_slices_after, warn_of_blocking

PLACE: ContextVar[str] = ContextVar("place", default="nowhere")


# what a node sets


async def test_a_row_sees_nothing_of_what_its_nodes_set() -> None:
    async def sets(x: str) -> str:
        before = PLACE.get()
        PLACE.set(f"{before} and further")
        return before

    with Flow() as f:
        port = f.add(sets, x="").out
        for _ in range(10):
            port = f.add(sets, x=port).out
        f.output("o", port)
    assert (await f.run())["o"] == "nowhere"


async def test_rounds_items_and_tests_see_nothing_of_what_others_set() -> None:
    seen: list[str] = []

    def note(x: Any) -> Any:
        seen.append(PLACE.get())
        PLACE.set("another")
        return x

    async def sets(x: int) -> int:
        return int(note(x)) + 1

    with Flow() as f:
        with f.loop() as it:
            v = it.carry(0)
            up = f.add(sets, x=v.out)
            it.until(up.out, lambda x: note(x) > 2)
            v.next(up.out)
        f.output("o", collect(f.add(sets, x=each(list(range(5)))).out))
    await f.run()
    assert seen == ["nowhere"] * (3 + 3 + 5)


async def test_a_task_of_an_earlier_node_goes_on_asking_for_its_own_firing() -> None:
    asked: list[str] = []
    more = Event()

    async def ask() -> None:
        await more.wait()
        asked.append(this_firing().path)

    async with create_task_group() as group:

        async def starts(x: int) -> int:
            group.start_soon(ask)
            return x

        with Flow() as f:
            port = f.add(one).out
            for number in range(5):
                port = f.add(node(starts).with_(name=f"starts_{number}"), x=port).out
        await f.run()
        more.set()
    assert sorted(asked) == [f"starts_{number}" for number in range(5)]


# cancelling a run


async def stopped(f: Flow, wire: Callable[[Flow, Any], object], asks: int) -> dict[str, str]:
    runs: list[Run] = []

    async def stop(x: int) -> int:
        for _ in range(asks):
            runs[0].cancel("from inside")
        return x

    wire(f, stop)
    async with f.start() as run:
        runs.append(run)
        return states_of(await run)


def ready_beside(f: Flow, stop: Any) -> None:
    first = f.add(one)
    f.add(stop, x=first.out)
    f.add(inc, x=first.out)


async def test_a_node_of_a_row_may_cancel_its_own_run() -> None:
    for asks in (1, 2):
        assert await stopped(Flow(), lambda f, stop: row(f, stop, after=1), asks) == {
            "one": "done", "inc": "done", "stop": "cancelled", "inc_2": "not_run",
            "beside": "cancelled", "beside_0": "not_run",
        }  # fmt: skip
        ended = {"one": "done", "stop": "cancelled", "inc": "cancelled"}
        assert await stopped(Flow(), ready_beside, asks) == ended


# skips and errors in a row


async def may(x: int) -> Maybe[int]:
    return x if x > 9 else SKIP


async def may_not(x: int) -> int:
    return SKIP  # type: ignore[no-any-return]  # the mistake under test


async def test_skips_and_errors_given_to_nodes_of_a_row_go_to_its_end() -> None:
    f = Flow()
    row(f, may, after=2)
    result = await f.run()
    assert {result.states[path] for path in ("inc_2", "inc_3")} == {NodeState.SKIPPED}
    assert "port 'out' not emitted" in result.why("inc_3")
    f = Flow()
    row(f, fails, after=2)
    result = (await failed_run(f.using(errors="continue"))).result
    assert states_of(result)["inc_3"] == "not_run"
    assert "fails failed: ValueError: bad 2" in result.why("inc_3")
    f = Flow()
    row(f, may_not)
    assert (await failed_run(f)).failures[0].code == "DF0807"


async def test_an_optional_port_of_a_quick_node_takes_its_default_for_a_skip() -> None:
    async def plus(x: int, y: int = 10) -> int:
        return x + y

    with Flow() as f:
        first = f.add(one)
        f.output("o", f.add(plus, x=first.out, y=f.add(may, x=first.out).out).out)
    assert (await f.run())["o"] == 11


def wired(f: Flow, names: str, function: Callable[[str], Any], start: Any = 0) -> None:
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
