"""F-R06, F-R10, F-R11: runs that begin, damaged records, and who may read the files of a store."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from typing import TYPE_CHECKING

import anyio
import pytest

from dataflow import Flow, Store, StoreError, diff
from tests.behaviour.nodes import inc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def flow_in(store: Store) -> Flow:
    with Flow("f") as flow:
        flow.output("o", flow.add(inc, x=flow.input("n", int)).out)
    return flow.using(store=store)


@pytest.mark.parametrize("is_file", [True, False], ids=["sqlite", "memory"])
async def test_a_run_cancelled_while_it_begins_is_not_there_or_cancelled(
    tmp_path: Path, is_file: bool
) -> None:
    store = Store.sqlite(tmp_path / "runs.db") if is_file else Store.memory()
    flow = flow_in(store)

    async def run() -> None:
        await flow.run(n=1)

    for number in range(40):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            for _ in range(number % 8):
                await anyio.lowlevel.checkpoint()
            if number % 3:
                await anyio.sleep(0.0005 * (number % 8))
            group.cancel_scope.cancel()
        for left in store.runs():
            records = list(store.records(left.id))
            assert (records[0].kind, left.status) in {
                ("run_started", "cancelled"), ("run_started", "completed"),
            }  # fmt: skip


DAMAGES = {
    "bytes": "update records set data = x'ff00fe' where seq = 2",
    "text": "update records set data = cast(x'ff00fe' as text) where seq = 2",
    "path": "update records set path = x'ff' where seq = 2",
    "kind": "update records set kind = x'ff' where seq = 2",
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_record_is_named(damage: str, tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    store = Store.sqlite(place)
    flow = flow_in(store)
    run = (await flow.run(n=1)).run_id
    other = (await flow.run(n=1)).run_id
    with closing(sqlite3.connect(place)) as database:
        database.execute(f"{DAMAGES[damage]} and run = ?", (run,))
        database.execute("update runs set status = 'failed'")
        database.commit()

    async def read() -> None:
        list(store.records(run))

    for use in (
        read,
        lambda: flow.resume(run),
        lambda: flow.fork(run, changes={}),
        lambda: diff(store, run, other),
    ):
        with pytest.raises(StoreError) as raised:
            await use()
        problem = raised.value.problem
        assert (problem.code, run in str(problem), dict(problem.details)["seq"]) == ("DF1168", True, 2)


@pytest.mark.parametrize("damage", ["created = 'noon'", "flow = x'ff'", "target = cast(x'ff' as text)"])
async def test_a_damaged_run_is_an_error_of_the_store(damage: str, tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    await flow_in(Store.sqlite(place)).run(n=1)
    with closing(sqlite3.connect(place)) as database:
        database.execute(f"update runs set {damage}")
        database.commit()
    with pytest.raises(StoreError) as raised:
        Store.sqlite(place).runs()
    assert raised.value.problem.code == "DF1107"


@pytest.mark.usefixtures("open_umask")
async def test_the_files_of_a_store_are_private(tmp_path: Path) -> None:
    place = tmp_path / "own" / "runs.db"
    async with flow_in(Store.sqlite(place)).start(n=1) as run:
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in place.parent.rglob("*")}
        assert {name for name in modes if name.startswith("runs.db-")} >= {"runs.db-wal", "runs.db-locks"}
        await run
    assert modes.pop("runs.db-locks") == 0o700
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


@pytest.mark.usefixtures("open_umask")
async def test_a_folder_that_exists_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(0o755)
    await flow_in(Store.sqlite(tmp_path / "shared" / "runs.db")).run(n=1)
    assert stat.S_IMODE((tmp_path / "shared").stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "shared" / "runs.db").stat().st_mode) == 0o600
