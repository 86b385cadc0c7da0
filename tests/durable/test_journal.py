"""The journal of a run being executed: what is reported was written, or the run ends (S12.2)."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import pytest

from dataflow import Flow, StoreError, node
from dataflow.stores import Batch, Hold, Store, StoredRun
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
