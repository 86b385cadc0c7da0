"""Stores pass what every store passes; outcomes, torn files and locks of the one in a file (B27)."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from dataflow.errors import StoreError
from dataflow.stores import Batch, OutcomeTable, Store, StoredRun, locks
from dataflow.stores.locks import FileLock, is_taken, take
from dataflow.stores.memory import MemoryStore
from dataflow.stores.pruning import prune
from dataflow.stores.statements import open_asks
from dataflow.testing import OutcomeConformance, ProcessConformance, StoreConformance
from dataflow.testing.outcomes import NOON, new_outcome
from dataflow.testing.peers import Peer
from dataflow.testing.samples import batch_of, blob_of, new_run, record
from tests.stores.sqlite_stores import Sqlite, owned, seqs_of


class TestSqlite(StoreConformance):
    def make_store(self, place: Path) -> Store:
        return Store.sqlite(place / "runs.db")


class TestSqliteOutcomes(OutcomeConformance):
    def make_store(self, place: Path) -> Store:
        return Store.sqlite(place / "runs.db")


class TestSqliteInProcesses(ProcessConformance):
    def make_store(self, place: Path) -> Store:
        return Store.sqlite(place / "runs.db")


def test_open_asks_are_found_without_reading_what_else_a_journal_has(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = Store.sqlite(path)
    with owned(store.begin(new_run())):
        store.commit("run", Batch([record(seq, "ask_opened", f"ask-{seq}") for seq in range(1, 11)]))
        before = instructions(path)
        store.commit("run", batch_of(*range(11, 1_001)))
        assert instructions(path) == before


def instructions(path: Path) -> int:
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    with closing(sqlite3.connect(path)) as connection:
        connection.set_progress_handler(step, 1)
        assert len(open_asks(connection)) == 10
    return count


class TestMemory(StoreConformance):
    def make_store(self, place: Path) -> Store:
        return Store.memory()


class TestMemoryOutcomes(OutcomeConformance):
    def make_store(self, place: Path) -> Store:
        return Store.memory()


def test_a_process_that_is_killed_while_it_writes_loses_nothing_acknowledged(
    subtests: pytest.Subtests, tmp_path: Path
) -> None:
    for acknowledged in (1, 2, 3, 5, 8, 13):
        with subtests.test(acknowledged=acknowledged):
            folder = tmp_path / str(acknowledged)
            folder.mkdir()
            with Peer(Sqlite, folder) as peer:
                peer.ask("begin", new_run())
                for number in range(50):
                    peer.start("commit", "run", batch_of(*range(20 * number + 1, 20 * number + 21)))
                for _ in range(acknowledged):
                    peer.answer()
                peer.kill()
            store = Store.sqlite(folder / "runs.db")
            seqs = seqs_of(store)
            assert seqs == [*range(1, len(seqs) + 1)]
            assert len(seqs) % 20 == 0
            assert len(seqs) >= 20 * acknowledged
            with owned(store.hold("run")):
                store.commit("run", batch_of(len(seqs) + 1))


FIRST = new_run().updated


def with_runs(store: Store, **statuses: str) -> Store:
    for day, (run, status) in enumerate(statuses.items(), start=1):
        store.begin(new_run(run, status=status, day=day)).release()
    return store


def pruned(store: Store, days: int, *statuses: str) -> list[str]:
    return prune(store, timedelta(days=days), statuses, now=FIRST + timedelta(days=9, hours=6))


def test_other_and_late_runs_stay() -> None:
    store = with_runs(Store.memory(), a="completed", b="paused", c="failed", d="completed")
    assert pruned(store, 1, "completed", "failed") == ["d", "c", "a"]
    assert [run.id for run in store.runs()] == ["b"]
    store = with_runs(Store.memory(), a="completed", b="completed", c="completed")
    assert pruned(store, 8, "completed") == ["b", "a"]
    store = with_runs(Store.memory(), a="completed")
    store.commit("a", batch_of(1))
    assert prune(store, timedelta(hours=1), ["completed"]) == []


def test_a_run_that_is_taken_or_deleted_meanwhile_is_left_out() -> None:
    class Resumed(MemoryStore):
        def runs(self) -> Sequence[StoredRun]:
            found = super().runs()
            self.hold("b")
            return found

    class Deleted(MemoryStore):
        def runs(self) -> Sequence[StoredRun]:
            found = super().runs()
            if len(found) > 1:
                self.delete("b")
            return found

    for store in (Resumed(), Deleted()):
        assert pruned(with_runs(store, a="paused", b="paused"), 1, "paused") == ["a"]


def test_what_keeps_a_run_from_being_deleted_is_told() -> None:
    class Broken(MemoryStore):
        def delete(self, run: str) -> None:
            raise StoreError("in memory", "the disk is gone")

    with pytest.raises(StoreError, match="the disk is gone"):
        pruned(with_runs(Broken(), a="paused"), 1, "paused")


VERSION_1: Final = Path(__file__).parents[1] / "golden" / "runs_version_1.sql"
HOUR: Final = timedelta(hours=1)


def table_of(path: Path, **options: int) -> OutcomeTable:
    table = Store.sqlite(path / "runs.db", **options).outcomes
    assert table is not None
    return table


def keys_of(table: OutcomeTable) -> list[str]:
    return sorted(one.key for one in table.newest("t", 99))


def blobs_in(path: Path) -> int:
    with closing(sqlite3.connect(path / "runs.db")) as connection:
        (count,) = connection.execute("SELECT count(*) FROM blobs").fetchone()
    return int(count)


class TestRoom:
    """What was not of use the longest goes first."""

    def test_what_was_of_use_stays(self, tmp_path: Path) -> None:
        table = table_of(tmp_path, memo_bytes=35_000)
        for hour, name in enumerate("abc"):
            blobs = blob_of(name.encode() * 10_000)
            created = NOON + hour * HOUR
            table.remember(replace(new_outcome(name, blobs=blobs), created=created), blobs)
        assert table.recall("a", NOON + 3 * HOUR) is not None
        blobs = blob_of(b"d" * 10_000)
        table.remember(replace(new_outcome("d", blobs=blobs), created=NOON + 4 * HOUR), blobs)
        assert keys_of(table) == ["a", "c", "d"]
        assert blobs_in(tmp_path) == 3

    def test_what_cannot_be_written_can_be_read(self, tmp_path: Path) -> None:
        table = table_of(tmp_path)
        blobs = blob_of(b"a" * 10_000)
        table.remember(new_outcome("a", blobs=blobs), blobs)
        with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
            connection.execute(
                "CREATE TRIGGER closed BEFORE UPDATE ON memo BEGIN SELECT RAISE(ABORT, 'closed'); END"
            )
        found = table.recall("a", NOON + 3 * HOUR)
        assert found is not None
        assert found == table.recall("a", NOON)
        with pytest.raises(StoreError, match="closed"):  # a run would be without its blobs
            table.recall("a", NOON + 3 * HOUR, "run")

    def test_what_has_expired_goes_before_all_else(self, tmp_path: Path) -> None:
        table = table_of(tmp_path, memo_bytes=35_000)
        for hour, name in enumerate("abc"):
            blobs = blob_of(name.encode() * 10_000)
            expires = NOON + 3 * HOUR if name == "c" else NOON + 99 * HOUR if name == "a" else None
            created = NOON + hour * HOUR
            table.remember(replace(new_outcome(name, blobs=blobs), created=created, expires=expires), blobs)
        blobs = blob_of(b"d" * 10_000)
        table.remember(replace(new_outcome("d", blobs=blobs), created=NOON + 4 * HOUR), blobs)
        assert keys_of(table) == ["a", "b", "d"]

    def test_what_is_larger_than_all_room_is_not_remembered(self, tmp_path: Path) -> None:
        table = table_of(tmp_path, memo_bytes=5_000)
        table.remember(new_outcome("a"), {})
        blobs = blob_of(b"b" * 10_000)
        assert not table.remember(new_outcome("b", blobs=blobs), blobs)
        assert keys_of(table) == ["a"]


class TestFiles:
    def test_a_file_of_an_earlier_release_gets_what_it_lacks(self, tmp_path: Path) -> None:
        with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
            connection.executescript(VERSION_1.read_text())
        table = table_of(tmp_path)
        assert table.recall("k1", NOON) is None
        assert not table.newest("t", 1)
        assert not table.use()
        assert not table.clear()
        assert table.remember(new_outcome(), {})
        assert table.recall("k1", NOON) == new_outcome()
        with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (1,)

    def test_an_outcome_that_was_changed_is_not_read(self, tmp_path: Path) -> None:
        table = table_of(tmp_path)
        for change in ("data = '{ }'", "data = 'x'", "sum = ''", "fingerprint = 'k2'"):
            table.remember(new_outcome(), {})
            with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
                connection.execute(f"UPDATE memo SET {change}")
                connection.commit()
            key = "k2" if "k2" in change else "k1"
            with pytest.raises(StoreError, match=f"DF1106 .*: outcome {key} "):
                table.recall(key, NOON)
            table.forget(key)
            assert table.recall(key, NOON) is None


@contextmanager
def shared(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    yield
    os.close(descriptor)


def taken(path: Path) -> FileLock:
    lock = take(path)
    assert lock is not None
    return lock


def test_a_lock_is_taken_once_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "run.lock"
    first = taken(path)
    assert take(path) is None
    assert first.release()
    assert not first.release()
    taken(path).release()
    assert not is_taken(path)
    assert not list(tmp_path.iterdir())
    path = tmp_path / "run.lock"
    path.touch()
    assert not is_taken(path)
    taken(path).release()
    assert not path.exists()


def test_asking_hinders_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.lock"
    with shared(path):
        assert not is_taken(path)
    lock = taken(path)
    assert is_taken(path)
    lock.release()
    path = tmp_path / "run.lock"
    asking = shared(path)
    asking.__enter__()
    monkeypatch.setattr(time, "sleep", lambda _: asking.__exit__(None, None, None))
    taken(path).release()


def test_a_file_that_its_owner_removed_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.lock"
    lock_file = locks._locked

    def locked_too_late(descriptor: int, how: int) -> bool:
        monkeypatch.setattr(locks, "_locked", lock_file)
        path.unlink()
        return lock_file(descriptor, how)

    monkeypatch.setattr(locks, "_locked", locked_too_late)
    lock = taken(path)
    assert is_taken(path)
    lock.release()


@pytest.mark.parametrize("release", ["this", "earlier"])
def test_a_file_gets_smaller_while_others_read_and_write(tmp_path: Path, release: str) -> None:
    path = tmp_path / "runs.db"
    store = Store.sqlite(path)
    with_runs(store, kept="paused")
    if release == "earlier":
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript("PRAGMA auto_vacuum=NONE; VACUUM")
    kept, shared = blob_of(os.urandom(100)), blob_of(b"shared")
    with owned(store.begin(new_run("active"))), closing(sqlite3.connect(path)) as reader:
        for number in range(250):
            with owned(store.begin(new_run(f"{number}", status="completed"))):
                store.commit(f"{number}", Batch(blobs={**blob_of(os.urandom(20_000)), **shared}))
        store.commit("active", Batch(blobs={**kept, **shared}))
        before = path.stat().st_size
        reader.execute("BEGIN")
        (seen,) = reader.execute("SELECT count(*) FROM runs").fetchone()
        with ThreadPoolExecutor(1) as threads:
            writing = threads.submit(lambda: [store.commit("active", batch_of(seq)) for seq in range(1, 50)])
            deleted = prune(Store.sqlite(path), timedelta(days=-1), ["completed"])
            writing.result()
        assert (len(deleted), seen) == (250, 252)
        assert reader.execute("SELECT count(*) FROM runs").fetchone() == (252,)  # its snapshot
        reader.execute("COMMIT")
        assert [store.blob(name) for name in (*kept, *shared)] == [*kept.values(), *shared.values()]
    assert {run.id for run in store.runs()} == {"kept", "active"}
    assert seqs_of(store, "active") == list(range(1, 50))
    prune(store, timedelta(days=-1), ["completed"])
    assert path.stat().st_size < before / 10
