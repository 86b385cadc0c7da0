"""The journal of a run: what is reported was written, and its past is folded from it (S11.3, S12)."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from dataflow import Flow, NodeState, StoreError, node
from dataflow.core.states import RunStatus
from dataflow.durable.journal_view import Past, fold
from dataflow.stores import Batch, Hold, Record, Store, StoredRun
from dataflow.stores.store import NOTHING
from tests.support.stored_runs import Gated, Writes, asking_flow, failing_with, kinds_of, until


@pytest.fixture(autouse=True)
def no_writer_is_left() -> Iterator[None]:
    """Let no thread that writes outlive a test."""
    yield
    join_writers()
    assert writers() == []


def join_writers() -> None:
    for thread in writers():
        thread.join(10)


def writers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("dataflow journal")]


async def two() -> int:
    return 2


def plain_flow(store: Store) -> Flow:
    with Flow("plain") as f:
        f.output("o", f.add(two).out)
    return f.using(store=store)


class TestOrder:
    """What listeners are told, and when."""

    async def test_an_event_is_told_when_its_record_is_written(self) -> None:
        store = Gated("commit", kind="node_finished")
        told: list[str] = []

        async def listen() -> None:
            async for event in events:
                told.append(event.kind)  # noqa: PERF401 - what is told so far is looked at

        async with anyio.create_task_group() as group, plain_flow(store).start() as run:
            events = run.events()
            group.start_soon(listen)
            await until(store.entered)
            await anyio.wait_all_tasks_blocked()
            assert "node_finished" not in told
            store.gate.set()
            await run
        assert told == kinds_of(store, run.id)

    async def test_the_run_is_not_over_before_its_end_is_written(self) -> None:
        store = Gated("commit", kind="run_finished")
        async with plain_flow(store).start() as run:
            await until(store.entered)
            await anyio.wait_all_tasks_blocked()
            assert run.status == "running"
            store.gate.set()
            assert (await run).status == "completed"

    async def test_pieces_are_told_in_their_turn_and_streamed_once(self) -> None:
        @node
        async def talk() -> AsyncIterator[str]:
            yield "a"
            yield "b"

        store = Store.memory()
        with Flow("talking") as f:
            talked = f.add(talk)
        async with f.using(store=store).start() as run:
            told = [(event.seq, event.kind) async for event in run.events()]
        assert [kind for _, kind in told] == [
            "run_started", "node_started", "piece", "piece", "node_finished", "run_finished"
        ]  # fmt: skip
        assert [record.seq for record in store.records(run.id)] == [
            seq for seq, kind in told if kind != "piece"
        ]
        async with f.using(store=store).start() as run:
            assert [piece async for piece in run.stream(talked.out)] == ["a", "b"]


class TestFailingStore:
    """A store that fails ends the run, whose older state stays as it is."""

    async def test_the_error_is_raised_and_the_older_state_is_resumed(
        self, subtests: pytest.Subtests
    ) -> None:
        for kind in ["node_started", "node_finished", "ask_opened", "run_paused"]:
            with subtests.test(kind):
                error = OSError("the disk is gone")
                store = Writes(failing_with(error, kind))
                with pytest.raises(StoreError, match=r"DF1112 .*OSError: the disk is gone") as raised:
                    await asking_flow(store).run()
                assert raised.value.__cause__ is error
                [stored] = store.runs()
                assert stored.status == "interrupted"
                store.before = lambda _batch: None
                if kind != "node_started":
                    assert (await asking_flow(store).resume(stored.id)).status == "paused"
                    assert (await asking_flow(store).resume(stored.id, {"ask": 22}))["o"] == 42

    async def test_a_store_error_is_raised_as_it_is(self) -> None:
        error = StoreError("here", "no room")
        with pytest.raises(StoreError) as raised:
            await asking_flow(Writes(failing_with(error, "run_paused"))).run()
        assert raised.value is error

    async def test_a_hold_that_cannot_be_given_up_is_told(self) -> None:
        class Stuck(Writes):
            def begin(self, run: StoredRun, batch: Batch = NOTHING) -> Hold:
                hold = super().begin(run, batch)

                class Held:
                    def release(self) -> None:
                        hold.release()
                        raise OSError("the lock is stuck")

                return Held()

        with pytest.raises(StoreError, match="the lock is stuck"):
            await plain_flow(Stuck()).run()


class TestEffects:
    """What has an effect begins when its start record is written."""

    def flow(self, store: Store, sent: list[str]) -> Flow:
        @node(effect=True)
        async def send(x: int) -> int:
            sent.append(f"sent {x}")
            return x

        with Flow("sending") as f:
            f.output("o", f.add(send, x=f.add(two).out).out)
        return f.using(store=store)

    async def test_it_waits_for_its_start_record(self) -> None:
        store, sent = Gated("commit"), list[str]()
        async with self.flow(store, sent).start() as run:
            await until(store.entered)
            await anyio.wait_all_tasks_blocked()
            assert sent == []
            store.gate.set()
            await run
        assert sent == ["sent 2"]

    async def test_it_does_not_begin_where_it_cannot_be_written(self) -> None:
        def before(batch: Batch) -> None:
            if any(record.path == "send" for record in batch.records):
                raise OSError("the disk is gone")

        sent: list[str] = []
        with pytest.raises(StoreError, match="the disk is gone"):
            await self.flow(Writes(before), sent).run()
        assert sent == []


class TestAfterTheRun:
    """Nothing of a run is left in the process."""

    @pytest.mark.parametrize("place", ["memory", "sqlite"])
    async def test_no_thread_and_no_lock_is_left(self, place: str, tmp_path: Path) -> None:
        store = Store.memory() if place == "memory" else Store.sqlite(tmp_path / "runs.db")
        result = await asking_flow(store).run()
        await asking_flow(store).resume(result, {"ask": 22})
        join_writers()
        store.delete(result.run_id)  # which nobody owns
        assert store.runs() == []


BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
ENDED = {"ports": {"out": {"value": 1}}, "metadata": {}}


class Journal:
    """Records of a run, one a second."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.tell("run_started", flow="f", inputs={}, shape="")

    def tell(self, kind: str, path: str = "", **data: Any) -> Journal:
        seq = len(self.records) + 1
        time = (BEGUN + timedelta(seconds=seq - 1)).isoformat()
        self.records.append(Record(seq, kind, path, json.dumps({**data, "time": time})))
        return self

    def spoil(self, text: str) -> Journal:
        seq, kind, path = self.records[-1].seq, self.records[-1].kind, self.records[-1].path
        self.records[-1] = Record(seq, kind, path, text)
        return self

    def fold(self) -> Past:
        return fold("r", self.records, "runs.db")


def started(path: str = "a", attempt: int = 1, type: str = "m:a") -> Journal:
    return Journal().tell("node_started", path, type=type, attempt=attempt)


class TestRuns:
    def test_what_was_interrupted_was_executed_up_to_its_newest_record(self) -> None:
        journal = Journal().tell("run_paused", asks=["a"], elapsed=4.5).tell("run_resumed")
        assert journal.tell("node_started", "a", type="m:a", attempt=1).fold().elapsed == 5.5
        journal = started().tell("run_resumed").tell("node_started", "b", type="m:b", attempt=1)
        assert journal.fold().elapsed == 2
        assert started().tell("run_finished", status="failed").fold().elapsed == 2


class TestLoopsAndMaps:
    def test_why_a_loop_has_ended_shows_what_its_test_said(self) -> None:
        said = {"condition": False, "max_iterations": True, "exhausted": True, "failed": None}
        for reason, goes_on in said.items():
            past = Journal().tell("loop_exited", "l", reason=reason, iterations=3).fold()
            assert past.loop_goes_on("l", 3) is goes_on, reason


#: What a cut, or a disk that is wrong, leaves of a record.
UNREADABLE = {
    "cut": '{"type": "m:a", "att', "empty": "", "no object": "[]", "a number": "5",
    "no time": '{"type": "m:a", "attempt": 1}',
    "another time": '{"type": "m:a", "attempt": 1, "time": "today"}',
    "no field": '{"time": "2026-01-01T00:00:00+00:00"}',
    "deep": "[" * 200_000,
}  # fmt: skip


def test_an_unreadable_record_is_dropped_unless_others_follow_it(subtests: pytest.Subtests) -> None:
    for name, text in UNREADABLE.items():
        with subtests.test(name):
            past = started().spoil(text).fold()
            assert (past.is_torn, past.seq) == (True, 2)
            assert "a" not in past.firings or not past.firings["a"].is_running
            past = started().spoil(text).tell("run_resumed").fold()
            assert (past.is_torn, past.seq) == (False, 3)
            journal = started().spoil(text).tell("run_finished", status="completed")
            with pytest.raises(StoreError, match=r"DF1116 store runs\.db: run r: record 2 "):
                journal.fold()


def test_the_end_of_a_firing_is_recorded_as_a_whole_or_not_at_all() -> None:
    whole: dict[str, Any] = {"state": "done", **ENDED}
    failures: list[object] = [{}, "", 1, {"v": {}}, {"v": []}, {"v": {"path": 1}}]
    parts: list[dict[str, Any]] = [
        *({name: whole[name] for name in whole if name != missing} for missing in whole),
        *({**whole, "failure": failure} for failure in failures),
        {**whole, "state": "excellent"},
    ]
    for data in parts:
        past = started().tell("node_finished", "a", **data).fold()
        assert (past.is_torn, past.firings["a"].state) == (True, None), data


class TestLaterReleases:
    """Records of kinds that a later release writes are passed over (S20)."""

    def test_unknown_kinds_are_ignored_wherever_they_are(self) -> None:
        past = Journal().tell("memo_hit", "a", key="k").tell("run_paused", asks=[], elapsed=1.0).fold()
        assert past.status is RunStatus.PAUSED
        journal = Journal().tell("tool_call", "a", name="x")
        past = journal.fold()
        assert (past.is_torn, past.seq, past.elapsed) == (False, 2, 1)
        assert journal.spoil('{"na').fold().is_torn

    def test_fields_that_nobody_knows_are_passed_over(self) -> None:
        firing = Journal().tell("node_started", "a", type="m:a", attempt=1, priority=3).fold().firings["a"]
        assert firing.is_running


class TestWhatGoesOnAgain:
    def test_a_map_in_which_an_item_begins_after_its_end_has_not_ended(self) -> None:
        for state in ("failed", "cancelled"):
            journal = started("m", type="map").tell("node_finished", "m", state=state, **ENDED)
            past = journal.tell("node_started", "m[0]/a", type="m:a", attempt=1).fold()
            assert past.firings["m"].state is None, state

    def test_a_map_that_is_done_stays_so_whatever_begins_in_it(self) -> None:
        journal = started("b").tell("node_finished", "b", state="failed", **ENDED)
        journal.tell("node_started", "m", type="map", attempt=1)
        journal.tell("node_finished", "m", state="done", **ENDED)
        past = journal.tell("node_started", "m[0]/a", type="m:a", attempt=1).fold()
        assert past.firings["m"].state is NodeState.DONE
