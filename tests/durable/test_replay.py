"""What stands when a run is resumed, and what is done again (S9.1, S11.3, S12)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
import trio
from trio.testing import MockClock

from dataflow import (
    DataflowError,
    EventKind,
    Flow,
    Retry,
    RunFailed,
    StoreError,
    node,
    this_firing,
)
from dataflow.diagnostics.stores import RECORD_CUT
from dataflow.stores import Record, Store
from dataflow.stores.memory import MemoryStore
from tests.support.stored_runs import (
    asking_flow,
    earlier,
    retold,
)


class TestWhatCanBeResumed:
    async def test_a_run_given_by_its_id_needs_a_store(self) -> None:
        with pytest.raises(DataflowError, match=r"DF0505 run 20260101T000000Z-00000000:"):
            await asking_flow().resume("20260101T000000Z-00000000")

    async def test_a_run_of_an_unreadable_journal_stays_as_it_was(self) -> None:
        store = Store.memory()
        paused = await asking_flow(store).run()
        spoilt = retold(store, paused.run_id, lambda one: replace(one, data="{") if one.seq == 3 else one)
        with pytest.raises(StoreError, match=r"DF1116 .*: record 3 "):
            await asking_flow(spoilt).resume(paused.run_id, {"ask": 22})
        assert spoilt.find(paused.run_id).status == "paused"

    async def test_a_torn_record_is_dropped_with_a_warning(self) -> None:
        store = Store.memory()
        paused = await asking_flow(store).run()
        last = max(record.seq for record in store.records(paused.run_id))
        torn = retold(store, paused.run_id, lambda one: replace(one, data="{") if one.seq == last else one)
        again = await asking_flow(torn).resume(paused.run_id)
        assert again.warnings == (str(RECORD_CUT()),)
        assert (await asking_flow(torn).resume(again, {"ask": 22}))["o"] == 42


def jumping(main: Callable[[], Any]) -> Any:
    """Run on trio with a clock that jumps to the next timer whenever nothing else can run."""
    return trio.run(main, clock=MockClock(autojump_threshold=0))


class TestAttempts:
    """Attempts are counted through all sittings, and waits go on where they were (S9.1)."""

    async def interrupted(self, retry: Retry, failures: int) -> tuple[Flow, MemoryStore, list[int], str]:
        """Let a run be interrupted while it waits for the second attempt at a node."""
        store, attempts = Store.memory(), list[int]()

        async def flaky() -> int:
            attempts.append(this_firing().attempt)
            if len(attempts) <= failures:
                raise LookupError("not yet")
            return len(attempts)

        with Flow("flaky") as f:
            f.output("o", f.add(node(retries=retry)(flaky)).out)
        async with f.using(store=store).start() as run:
            async for event in run.events():
                if event.kind is EventKind.ATTEMPT_FAILED:
                    run.cancel()
        [failed] = [record.seq for record in store.records(run.id) if record.kind == "attempt_failed"]
        killed = retold(store, run.id, lambda one: one if one.seq <= failed else None)
        return f, killed, attempts, run.id

    def test_the_rest_of_a_wait_is_waited_for(self) -> None:
        f, store, _, run = anyio.run(self.interrupted, Retry(3, backoff="fixed", first=600), 1)

        async def main() -> float:
            begun = anyio.current_time()
            await f.using(store=retold(store, run, earlier(100))).resume(run)
            return anyio.current_time() - begun

        assert jumping(main) == pytest.approx(500, abs=20)

    async def test_a_failed_run_has_all_its_attempts_again(self) -> None:
        f, store, attempts, run = await self.interrupted(Retry(1, backoff="fixed", first=600), 9)
        flow = f.using(store=retold(store, run, earlier(700)))
        with pytest.raises(RunFailed):
            await flow.resume(run)
        async with flow.resuming(run) as again:
            async for event in again.events():
                if event.kind is EventKind.ATTEMPT_FAILED:
                    again.cancel()  # another attempt would follow in 600 s
            assert (await again).status == "cancelled"
        assert attempts == [1, 2, 3]


class TestTime:
    """The time of a run counts through all its sittings; waiting for answers is none of it (S9.2, S11.2)."""

    async def paused(self, elapsed: float, most: float) -> tuple[Flow, str]:
        store = Store.memory()
        paused = await asking_flow(store).run()

        def change(record: Record) -> Record:
            if record.kind != "run_paused":
                return record
            return replace(record, data=json.dumps({**json.loads(record.data), "elapsed": elapsed}))

        other = retold(store, paused.run_id, change)
        return asking_flow().using(store=other, timeout=most), paused.run_id

    async def test_a_run_whose_time_is_over_fails_when_it_is_resumed(self) -> None:
        flow, run = await self.paused(700, 600)
        with pytest.raises(RunFailed, match="600 s"):
            await flow.resume(run, {"ask": 22})

    async def test_the_time_continues_where_it_was(self) -> None:
        flow, run = await self.paused(300, 600)
        assert (await flow.resume(run, {"ask": 22}))["o"] == 42
        flow, run = await self.paused(300, 600)
        async with flow.resuming(run) as again:
            told = [event.data async for event in again.events() if event.kind is EventKind.RUN_PAUSED]
        assert 300 <= told[0]["elapsed"] < 600
