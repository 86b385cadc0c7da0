"""Runs in a store that are cancelled, cut off or looked at leave no run owned (S9.6, S11.2, B27)."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from dataflow import Flow, Result, RunTaken, StoreError, node
from dataflow.base.backend import on_asyncio
from dataflow.core.states import NodeState, RunStatus
from dataflow.durable.journal_view import fold
from dataflow.durable.ownership import cancel_stored
from dataflow.durable.replay import look_at
from dataflow.stores import Batch, Record, Store
from tests.behaviour.flow_parts import inc
from tests.support.stored_runs import Gated, add, asking_flow, kinds_of, one_ask, until


def nobody_owns(store: Store) -> bool:
    for thread in threading.enumerate():
        if thread.name.startswith("dataflow "):
            thread.join(10)
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


def asking() -> Flow:
    flow = Flow("asking")
    with flow.loop(name="again", limit=3) as again:
        number = again.carry(0)
        more = flow.ask(int, "How many more?", name="more")
        again.until(more.out, bool)
        number.next(flow.add(inc, x=number.out).out)
        answer = again.result(more.out)
    flow.output("more", answer)
    return flow


def paused(store: Store) -> str:
    return asking().using(store=store).run_sync().run_id


async def test_a_cancelled_run_ends_from_the_inside_out_and_can_be_resumed() -> None:
    store = Store.memory()
    run = (await asking().using(store=store).run()).run_id
    before = fold(run, store.records(run), "runs.db")
    cancel_stored(store, run, "no longer needed")
    told = [(record.kind, record.path) for record in store.records(run, before.seq)]
    assert told == [
        ("ask_closed", "again[0]/more"), ("node_finished", "again[0]/more"), ("node_finished", "again"),
        ("run_finished", ""),
    ]  # fmt: skip
    after = fold(run, store.records(run), "runs.db")
    assert (after.status, store.find(run).status) == (RunStatus.CANCELLED, "cancelled")
    assert after.firings["again"].state is NodeState.CANCELLED
    assert after.firings["again"].reason == "no longer needed"
    assert after.elapsed == before.elapsed  # the time of waiting does not count
    assert (await asking().using(store=store).resume(run, {"again[0]/more": 7}))["more"] == 7


def test_a_run_whose_newest_record_was_cut_off_can_be_cancelled() -> None:
    store = Store.memory()
    run = paused(store)
    seq = fold(run, store.records(run), "runs.db").seq
    store.commit(run, Batch([Record(seq + 1, "node_star", "", "{")], status="running"))
    cancel_stored(store, run)
    assert fold(run, store.records(run), "runs.db").status is RunStatus.CANCELLED


def test_a_run_is_not_cancelled_while_somebody_executes_it_or_when_it_has_ended() -> None:
    store = Store.memory()
    run = paused(store)
    hold = store.hold(run)
    with pytest.raises(RunTaken, match="DF1101"):
        cancel_stored(store, run)
    hold.release()
    cancel_stored(store, run)
    with pytest.raises(RunTaken, match="DF1114"):
        cancel_stored(store, run)
    store.hold(run).release()  # it was given up


async def test_looking_at_a_run_restores_it_and_changes_nothing() -> None:
    store, flow = Store.memory(), Flow("skipping")
    ways = flow.when(flow.add(inc, x=0).out, lambda number: number > 1)
    first = flow.add(node(inc).with_(name="first"), x=ways.yes)
    flow.add(node(inc).with_(name="second"), x=first.out)
    flow.output("more", flow.ask(int, "How many?", name="more").out)
    run = (await flow.using(store=store).run()).run_id
    records = list(store.records(run))
    result = await look_at(flow.compile(), flow.settings, store, run)
    assert result.why("second").splitlines() == [
        "second is skipped", "  because second: port 'x' has no value",
        "  because first: port 'x' has no value", "  because when: exit 'yes' not taken",
    ]  # fmt: skip
    assert (list(store.records(run)), store.find(run).status) == (records, "paused")


#: Cuts are so far apart, in bytes.
STEP = 2_003


def ten_nodes(folder: Path, copy: Path | None = None) -> Flow:
    """Wire ten nodes, each in a batch of its own, and an ask.

    The last of them copies the files of the store, which has all before it.
    """
    counted = node(effect=True)(add)

    @node(effect=True)
    async def last(a: int, b: int) -> int:
        if copy is not None:
            shutil.copytree(folder, copy)
        return a + b

    with Flow("ten") as f:
        step = f.add(counted, a=0, b=1)
        for _ in range(8):
            step = f.add(counted, a=step.out, b=1)
        step = f.add(last, a=step.out, b=1)
        f.output("o", f.add(add, a=step.out, b=f.add(one_ask).out).out)
    return f.using(store=Store.sqlite(folder / "runs.db"))


@pytest.fixture
async def copied(tmp_path: Path) -> tuple[Path, str]:
    """Return the files of a store as a process would leave them that dies in the last node, and the run."""
    (tmp_path / "whole").mkdir()
    paused = await ten_nodes(tmp_path / "whole", tmp_path / "copied").run()
    assert (tmp_path / "copied" / "runs.db-wal").stat().st_size > 10 * STEP
    return tmp_path / "copied", paused.run_id


async def outcome(folder: Path, run: str) -> str:
    flow = ten_nodes(folder)
    try:
        paused = await flow.resume(run)
        return str((await flow.resume(paused, {"ask": 5})).outputs)
    except StoreError as error:
        return str(error)


async def test_a_run_goes_on_from_wherever_its_log_was_cut(copied: tuple[Path, str], tmp_path: Path) -> None:
    folder, run = copied
    log = (folder / "runs.db-wal").read_bytes()
    found: list[str] = []
    for end in range(0, len(log) + STEP, STEP):
        cut = tmp_path / "cut"
        shutil.copytree(folder, cut)
        (cut / "runs.db-wal").write_bytes(log[:end])
        found.append(await outcome(cut, run))
        shutil.rmtree(cut)
    whole = str({"o": 15})
    assert found[-1] == whole
    first = found.index(whole)
    assert found[first:] == [whole] * len(found[first:])  # never less behind a later cut
    for text in found[:first]:
        assert "DF1102" in text or "DF1115" in text
