"""Whoever is cancelled leaves no run owned, be it begun, resumed, executed or given up (S11.2, S9.6)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from dataflow import Flow, Result, RunTaken, StoreError
from dataflow.base.backend import on_asyncio
from dataflow.durable.ownership import cancel_stored
from dataflow.stores import Store
from tests.support.stored_runs import Gated, asking_flow, kinds_of, until


def join_threads() -> None:
    """Wait for the threads of the engine to end."""
    for thread in threading.enumerate():
        if thread.name.startswith("dataflow "):
            thread.join(10)


def nobody_owns(store: Store) -> bool:
    """Tell whether every run of a store can be owned."""
    join_threads()
    for stored in store.runs():
        store.hold(stored.id).release()
    return True


def cancel(scope: anyio.CancelScope) -> None:
    scope.cancel()


def let_time_be_over(scope: anyio.CancelScope) -> None:
    scope.deadline = anyio.current_time()


async def ended(
    work: Callable[[], Awaitable[object]], store: Gated, end: Callable[[anyio.CancelScope], None]
) -> None:
    """End who works as soon as the store is waited for, and only then open the gate."""

    async def watch() -> None:
        await until(store.entered)
        end(scope)
        for _ in range(20):  # whoever is cancelled has several turns
            await anyio.lowlevel.checkpoint()
        store.gate.set()

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        with anyio.CancelScope() as scope:
            await work()
    assert scope.cancelled_caught


async def cancelled(work: Callable[[], Awaitable[object]], store: Gated) -> None:
    await ended(work, store, cancel)


async def timed_out(work: Callable[[], Awaitable[object]], store: Gated) -> None:
    await ended(work, store, let_time_be_over)


async def cancelled_twice(work: Callable[[], Awaitable[object]], store: Gated) -> None:
    """Cancel who works by asyncio's own means, again and again, as the store is waited for."""
    if not on_asyncio():
        await cancelled(work, store)
        return

    async def run() -> None:
        await work()

    task = asyncio.create_task(run())
    await until(store.entered)
    for _ in range(3):
        task.cancel()
        for _ in range(5):
            await asyncio.sleep(0)
    store.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task


WAYS = [cancelled, cancelled_twice, timed_out]


@pytest.fixture(params=WAYS, ids=[way.__name__ for way in WAYS])
def end(request: pytest.FixtureRequest) -> Callable[..., Awaitable[None]]:
    """Return how somebody is cancelled."""
    way: Callable[..., Awaitable[None]] = request.param
    return way


async def paused_in(store: Store) -> Result:
    return await asking_flow(store).run()


class TestTakingOver:
    async def test_a_run_that_is_being_begun(self, end: Callable[..., Awaitable[None]]) -> None:
        store = Gated("begin")
        await end(asking_flow(store).run, store)
        assert nobody_owns(store)

    async def test_a_run_that_is_being_resumed(self, end: Callable[..., Awaitable[None]]) -> None:
        store = Gated("hold")
        paused = await paused_in(store)
        await end(lambda: asking_flow(store).resume(paused, {"ask": 22}), store)
        assert nobody_owns(store)
        assert (await asking_flow(store).resume(paused, {"ask": 22}))["o"] == 42


class TestExecuting:
    async def test_a_run_that_waits_for_its_store_is_resumed(
        self, subtests: pytest.Subtests, end: Callable[..., Awaitable[None]]
    ) -> None:
        for kind in ["node_finished", "run_paused"]:
            with subtests.test(kind):
                store = Gated("commit", kind=kind)
                await end(asking_flow(store).run, store)
                assert nobody_owns(store)
                [stored] = store.runs()
                assert stored.status in ("paused", "cancelled")
                assert (await asking_flow(store).resume(stored.id)).status == "paused"
                assert (await asking_flow(store).resume(stored.id, {"ask": 22}))["o"] == 42


async def test_of_tasks_that_resume_a_run_at_the_same_time_one_has_it(tmp_path: Path) -> None:
    for store in (Store.memory(), Store.sqlite(tmp_path / "runs.db")):
        for _ in range(5):
            run, ended = (await paused_in(store)).run_id, list[str]()

            async def resume(store: Store, run: str, ended: list[str]) -> None:
                try:
                    result = await asking_flow(store).resume(run, {"ask": 22})
                except RunTaken:
                    ended.append("taken")
                else:
                    ended.append(str(result["o"]))

            async with anyio.create_task_group() as group:
                for _ in range(5):
                    group.start_soon(resume, store, run, ended)
            assert sorted(ended) == ["42", *["taken"] * 4]
            assert kinds_of(store, run).count("run_resumed") == 1


async def test_a_run_that_no_thread_can_be_started_for_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    store, start = Store.memory(), threading.Thread.start

    def refused(thread: threading.Thread) -> None:
        if thread.name.startswith("dataflow journal"):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refused)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        await asking_flow(store).run()
    assert nobody_owns(store)


async def test_errors_of_a_store_are_store_errors(subtests: pytest.Subtests) -> None:
    def break_down(*_: object, **__: object) -> None:
        raise OSError("the network is down")

    for method in ["begin", "hold", "find", "records", "inbox"]:
        store = Store.memory()
        flow = asking_flow().using(store=store)
        run = "" if method == "begin" else (await flow.run()).run_id
        with subtests.test(method), pytest.MonkeyPatch.context() as patch:
            patch.setattr(store, method, break_down)
            with pytest.raises(StoreError, match=r"DF1112 .*OSError: the network is down"):
                await (flow.resume(run, {"ask": 1}) if run else flow.run())


async def test_the_journal_of_a_stored_run_that_is_cancelled_has_no_gap() -> None:
    store = Store.memory()
    with Flow("f") as flow:
        flow.output("more", flow.ask(int, "More?").out)
    run = (await flow.using(store=store).run()).run_id
    cancel_stored(store, run)
    records = list(store.records(run))
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert store.find(run).status == "cancelled"
