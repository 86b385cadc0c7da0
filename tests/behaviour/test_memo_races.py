"""Of concurrent requests for one outcome one computes it (S13.1): tasks, runs, threads, event loops."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.lowlevel
import pytest

from dataflow import EventKind, Flow, MemoStats, NodeState, ProcessMemo, RunFailed, collect, each, node
from dataflow.memo.table import Entry, SingleFlight
from tests.behaviour.memo_flows import CALLS, Place, called, one_node, places, told

pytestmark = pytest.mark.usefixtures("calls")


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    ENDS.clear()
    GATES.clear()
    yield
    GATES.clear()


ENDS: Final[list[str]] = []  # how the next calls of `held` end
GATES: Final[dict[str, Any]] = {}  # events of the loop: `begun` when a call has begun, `go` when it may end
RUNNING: Final[set[int]] = set()
RUNNING_MOST: Final[list[int]] = [0]
STARTED: Final = threading.Event()
MAY_END: Final = threading.Event()


async def held(x: int) -> int:
    CALLS.append(x)
    GATES["begun"].set()
    await GATES["go"].wait()
    if ENDS and ENDS.pop() == "fails":
        raise ValueError("no")
    return x + 1


async def opens(after: object) -> int:
    GATES["go"].set()
    return 0


async def counted(x: int) -> int:
    CALLS.append(x)
    RUNNING.add(x)
    RUNNING_MOST.append(len(RUNNING))
    await anyio.lowlevel.checkpoint()
    RUNNING.discard(x)
    return x


async def waits_for_both(x: int) -> int:
    CALLS.append(x)
    STARTED.set()
    await anyio.to_thread.run_sync(MAY_END.wait)
    return x + 1


def gates(*, open_first: bool = False) -> None:
    GATES.update(begun=anyio.Event(), go=anyio.Event())
    if open_first:
        GATES["go"].set()


async def settle() -> None:
    """Let all tasks get to where they wait, also behind the threads of a store."""
    for _ in range(50):
        await anyio.lowlevel.checkpoint()
    await anyio.sleep(0.02)


def flow_of(place: Place, **settings: Any) -> Flow:
    reach, where = place
    return one_node(where, node(memo=reach, **settings)(held), x=1)


def mapped(place: Place, function: Any, **settings: Any) -> Flow:
    reach, where = place
    with Flow("items") as flow:
        item = each(flow.input("xs", list[int]))
        flow.output("out", collect(flow.add(node(memo=reach, **settings)(function), x=item).out))
    return flow.using(memo=where)


async def outcomes(place: Place, count: int) -> list[str]:
    """Run a flow so many times concurrently, let its node go on when all runs wait, and return the ends."""
    ends: list[str] = []

    async def run() -> None:
        try:
            ends.append(str((await flow_of(place).run())["out"]))
        except RunFailed:
            ends.append("failed")

    gates()
    async with anyio.create_task_group() as group:
        for _ in range(count):
            group.start_soon(run)
        await GATES["begun"].wait()
        await settle()
        GATES["go"].set()
    return sorted(ends)


class LateMemo(ProcessMemo):
    """A table in which an outcome is just after it was asked for."""

    def __init__(self, key: str, entry: Entry) -> None:
        super().__init__()
        self.late = key, entry

    def recall(self, key: str, since: datetime | None = None, *, is_counted: bool = True) -> Entry | None:
        found = super().recall(key, since, is_counted=is_counted)
        self.remember(*self.late)
        return found


async def test_what_is_found_by_a_second_look_counts_as_a_hit() -> None:
    gates(open_first=True)
    table = ProcessMemo()
    await flow_of(("process", table)).run()
    [(key, entry)] = table.newest(f"{__name__}:held", 1)
    late = LateMemo(key, entry)
    result = await flow_of(("process", late)).run()
    assert (result["out"], called()) == (2, [1])
    assert late.stats() == MemoStats(entries=1, hits=1, misses=0)


async def test_concurrent_misses_compute_once_until_one_succeeds(tmp_path: Path) -> None:
    for place in places(tmp_path):
        ENDS[:] = ["fails"]
        assert (await outcomes(place, 3), called()) == (["2", "2", "failed"], [1, 1])
    for place in places(tmp_path):
        gates(open_first=True)
        xs = [3, 2, 3, 3, 2]
        assert (await mapped(place, held).run(xs=xs))["out"] == [x + 1 for x in xs]
        assert sorted(called()) == [2, 3]


async def test_one_that_waits_or_computes_can_be_cancelled(tmp_path: Path) -> None:
    """If the one that computes is cancelled, the next computes."""
    for place in places(tmp_path):
        gates()
        async with flow_of(place).start() as first:
            await GATES["begun"].wait()
            async with flow_of(place).start() as waiting:
                await settle()
                waiting.cancel()
                assert (await waiting).states["held"] is NodeState.CANCELLED
            async with flow_of(place).start() as second:
                await settle()
                gates()
                first.cancel()
                assert (await first).status == "cancelled"
                await GATES["begun"].wait()
                GATES["go"].set()
                assert (await second)["out"] == 2
        assert called() == [1, 1]


async def test_whoever_waits_holds_no_slot(tmp_path: Path) -> None:
    for reach, where in places(tmp_path):
        gates()
        with Flow("slots") as flow:
            item = each([1, 1, 1])
            flow.output("out", collect(flow.add(node(memo=reach)(held), x=item).out))
            flow.output("other", flow.add(opens, after=None).out)
        result = await flow.using(memo=where, max_concurrency=2).run()
        assert (result["out"], result["other"], called()) == ([2, 2, 2], 0, [1])


async def test_known_outcomes_do_not_wait_for_slots(tmp_path: Path) -> None:
    settings: tuple[Any, ...] = ({"max_concurrency": 1}, {"limits": {"web": 1}})
    for limits in settings:
        for reach, where in places(tmp_path):
            placed = node(memo=reach, limit="web")(held)
            with Flow("slots") as flow:
                for x in (1, 2, 1):
                    flow.add(placed, x=x)
            gates(open_first=True)
            assert await told(one_node(where, placed, x=1)) == (2, [1])
            gates()
            ended = []
            async with flow.using(memo=where, **limits).start() as run:
                async for event in run.events():
                    if event.kind is EventKind.NODE_FINISHED:
                        ended.append(event.path)
                    if len(ended) == 2:
                        GATES["go"].set()
            assert (sorted(ended[:2]), called()) == (["held", "held_3"], [2])


def in_threads(flow: Flow, **inputs: Any) -> tuple[list[threading.Thread], list[Any]]:
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(flow.run_sync(**inputs)["out"])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    return threads, found


def test_threads_compute_once(tmp_path: Path) -> None:
    xs = [number % 7 for number in range(60)]
    for place in places(tmp_path):
        STARTED.clear()
        MAY_END.clear()
        threads, found = in_threads(one_node(place[1], node(memo=place[0])(waits_for_both), x=1))
        assert STARTED.wait(10)
        MAY_END.set()
        for thread in threads:
            thread.join(10)
        assert (found, called()) == ([2] * 4, [1])
        threads, found = in_threads(mapped(place, counted), xs=xs)
        for thread in threads:
            thread.join(30)
        assert (found, sorted(called())) == ([xs] * 4, [*range(7)])


class TestFlights:
    async def test_who_leads_tells_those_who_wait(self) -> None:
        calls = SingleFlight()
        assert calls.join("a") is None
        assert calls.join("b") is None
        waiting = [calls.join("a"), calls.join("a")]
        calls.land("a", 7)
        assert [await one.outcome() for one in waiting if one is not None] == [7, 7]
        assert calls.join("a") is None
