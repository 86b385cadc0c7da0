"""Of those who need the same outcome at once, one computes it (S13.1): tasks, runs, threads, event loops."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.lowlevel
import pytest

from dataflow import EventKind, Flow, MemoStats, NodeState, ProcessMemo, Retry, RunFailed, collect, each, node
from dataflow.memo.table import Entry, SingleFlight
from tests.behaviour.memo_flows import CALLS, PLACES, Place, called, one_node, place_of, told


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    CALLS.clear()
    ENDS.clear()
    GATES.clear()
    yield
    CALLS.clear()


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Give each place in turn that outlives a run."""
    return place_of(request.param, tmp_path)


ENDS: Final[list[str]] = []  # how the next calls of `held` end
GATES: Final[dict[str, Any]] = {}  # events of the loop: `begun` when a call has begun, `go` when it may end


async def held(x: int) -> int:
    CALLS.append(x)
    GATES["begun"].set()
    await GATES["go"].wait()
    if ENDS and ENDS.pop() == "fails":
        raise ValueError("no")
    return x + 1


def gates() -> None:
    GATES.update(begun=anyio.Event(), go=anyio.Event())


async def settle() -> None:
    """Let everybody come to where they wait."""
    for _ in range(50):
        await anyio.lowlevel.checkpoint()
    await anyio.sleep(0.02)


def flow_of(place: Place, **settings: Any) -> Flow:
    reach, where = place
    return one_node(where, node(memo=reach, **settings)(held), x=1)


async def test_who_waits_for_the_outcome_of_another_counts_as_a_hit() -> None:
    gates()
    table = ProcessMemo()
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(flow_of(("process", table)).run)
        await settle()
        assert table.stats() == MemoStats(entries=0, hits=0, misses=3)
        GATES["go"].set()
    assert (table.stats(), called()) == (MemoStats(entries=1, hits=2, misses=1), [1])


class LateMemo(ProcessMemo):
    """A table in which an outcome stands just after it was asked for."""

    def __init__(self, key: str, entry: Entry) -> None:
        super().__init__()
        self.late = key, entry

    def recall(self, key: str, since: datetime | None = None, *, is_counted: bool = True) -> Entry | None:
        found = super().recall(key, since, is_counted=is_counted)
        self.remember(*self.late)
        return found


async def test_what_is_found_by_a_second_look_counts_as_a_hit() -> None:
    gates()
    GATES["go"].set()
    table = ProcessMemo()
    await flow_of(("process", table)).run()
    [(key, entry)] = table.newest(f"{__name__}:held", 1)
    late = LateMemo(key, entry)
    result = await flow_of(("process", late)).run()
    assert (result["out"], called()) == (2, [1])
    assert late.stats() == MemoStats(entries=1, hits=1, misses=0)


async def test_two_runs_that_miss_at_once_compute_once(place: Place) -> None:
    gates()
    found = []

    async def run() -> None:
        found.append((await flow_of(place).run())["out"])

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(run)
        await GATES["begun"].wait()
        await settle()
        GATES["go"].set()
    assert (found, called()) == ([2, 2, 2], [1])


async def test_items_of_one_map_compute_once(place: Place) -> None:
    gates()
    reach, where = place
    with Flow("items") as flow:
        item = each(flow.input("xs", list[int]))
        flow.output("out", collect(flow.add(node(memo=reach)(held), x=item).out))
    GATES["go"].set()
    assert (await flow.using(memo=where).run(xs=[1, 2, 1, 1, 2]))["out"] == [2, 3, 2, 2, 3]
    assert sorted(called()) == [1, 2]


async def test_when_the_first_fails_the_next_computes(place: Place) -> None:
    gates()
    ENDS.append("fails")
    ended = []

    async def run() -> None:
        try:
            ended.append((await flow_of(place).run())["out"])
        except RunFailed:
            ended.append("failed")

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(run)
        await GATES["begun"].wait()
        await settle()
        GATES["go"].set()
    assert (sorted(map(str, ended)), called()) == (["2", "2", "failed"], [1, 1])


async def test_one_that_waits_for_its_next_attempt_holds_nobody_up(place: Place) -> None:
    gates()
    ENDS.append("fails")
    GATES["go"].set()
    retried = flow_of(place, retries=Retry(1, backoff="fixed", first=3600))
    async with retried.start() as run:
        async for event in run.events():
            if event.kind is EventKind.ATTEMPT_FAILED:
                break
        assert await told(flow_of(place)) == (2, [1, 1])
        run.cancel()


async def test_the_first_that_is_cancelled_lets_the_next_compute(place: Place) -> None:
    gates()
    async with flow_of(place).start() as first:
        await GATES["begun"].wait()
        async with flow_of(place).start() as second:
            await settle()
            gates()
            first.cancel()
            assert (await first).status == "cancelled"
            await GATES["begun"].wait()
            GATES["go"].set()
            assert (await second)["out"] == 2
    assert called() == [1, 1]


async def test_one_that_waits_can_be_cancelled(place: Place) -> None:
    gates()
    async with flow_of(place).start() as first:
        await GATES["begun"].wait()
        async with flow_of(place).start() as second:
            await settle()
            second.cancel()
            result = await second
        assert result.status == "cancelled"
        assert result.states["held"] is NodeState.CANCELLED
        GATES["go"].set()
        assert (await first)["out"] == 2
    assert called() == [1]


async def test_who_waits_holds_no_slot(place: Place) -> None:
    gates()
    reach, where = place
    with Flow("slots") as flow:
        item = each([1, 1, 1])
        flow.output("out", collect(flow.add(node(memo=reach)(held), x=item).out))
        flow.output("other", flow.add(opens, after=None).out)
    result = await flow.using(memo=where, max_concurrency=2).run()
    assert (result["out"], result["other"], called()) == ([2, 2, 2], 0, [1])


async def opens(after: object) -> int:
    GATES["go"].set()
    return 0


@pytest.mark.parametrize("limits", [{"max_concurrency": 1}, {"limits": {"web": 1}}])
async def test_known_outcomes_do_not_wait_for_slots(place: Place, limits: Any) -> None:
    gates()
    reach, where = place
    with Flow("slots") as flow:
        placed = node(memo=reach, limit="web")(held)
        flow.output("one", flow.add(placed, x=1).out)
        flow.output("two", flow.add(placed, x=2).out)
        flow.output("three", flow.add(placed, x=1).out)
    GATES["go"].set()
    await one_node(where, placed, x=1).run()
    assert called() == [1]
    gates()
    async with flow.using(memo=where, **limits).start() as run:
        ended = []
        async for event in run.events():
            if event.kind is EventKind.NODE_FINISHED:
                ended.append(event.path)
            if len(ended) == 2:
                GATES["go"].set()
        assert sorted(ended[:2]) == ["held", "held_3"]
        await run
    assert called() == [2]


async def test_what_is_not_known_waits_for_its_slots(place: Place) -> None:
    reach, where = place
    with Flow("slots") as flow:
        item = each(list(range(20)))
        flow.output("out", collect(flow.add(node(memo=reach, limit="web")(counted), x=item).out))
    flow = flow.using(memo=where, limits={"web": 3}, max_concurrency=5)
    RUNNING.clear()
    for _ in range(2):
        assert (await flow.run())["out"] == [*range(20)]
    assert max(RUNNING_MOST) == 3
    assert sorted(called()) == [*range(20)]


RUNNING: Final[set[int]] = set()
RUNNING_MOST: Final[list[int]] = [0]


async def counted(x: int) -> int:
    CALLS.append(x)
    RUNNING.add(x)
    RUNNING_MOST.append(len(RUNNING))
    await anyio.lowlevel.checkpoint()
    RUNNING.discard(x)
    return x


class TestThreads:
    """Each thread has an event loop of its own."""

    def test_two_threads_compute_once(self, place: Place) -> None:
        reach, where = place
        flow = one_node(where, node(memo=reach)(waits_for_both), x=1)
        found: list[Any] = []
        STARTED.clear()
        MAY_END.clear()
        threads = [threading.Thread(target=lambda: found.append(flow.run_sync()["out"])) for _ in range(4)]
        for thread in threads:
            thread.start()
        assert STARTED.wait(10)
        MAY_END.set()
        for thread in threads:
            thread.join(10)
        assert (found, called()) == ([2] * 4, [1])

    def test_many_threads_and_keys(self, place: Place) -> None:
        reach, where = place
        with Flow("many") as flow:
            item = each(flow.input("xs", list[int]))
            flow.output("out", collect(flow.add(node(memo=reach)(counted), x=item).out))
        flow = flow.using(memo=where)
        xs = [number % 7 for number in range(60)]
        found: list[Any] = []
        threads = [
            threading.Thread(target=lambda: found.append(flow.run_sync(xs=xs)["out"])) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert found == [xs] * 4
        assert sorted(called()) == [*range(7)]


STARTED: Final = threading.Event()
MAY_END: Final = threading.Event()


async def waits_for_both(x: int) -> int:
    CALLS.append(x)
    STARTED.set()
    await anyio.to_thread.run_sync(MAY_END.wait)
    return x + 1


class TestFlights:
    async def test_who_leads_tells_those_who_wait(self) -> None:
        calls = SingleFlight()
        assert calls.join("a") is None
        assert calls.join("b") is None
        waiting = [calls.join("a"), calls.join("a")]
        calls.land("a", 7)
        assert [await one.outcome() for one in waiting if one is not None] == [7, 7]
        assert calls.join("a") is None

    async def test_without_an_outcome_the_next_leads(self) -> None:
        calls = SingleFlight()
        calls.join("a")
        waiting = calls.join("a")
        assert waiting is not None
        calls.land("a")
        assert await waiting.outcome() is None
        assert calls.join("a") is None
