"""Runs that nobody needs any more are deleted."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from dataflow.errors import StoreError
from dataflow.stores import Batch, Store, StoredRun
from dataflow.stores.memory import MemoryStore
from dataflow.stores.pruning import prune
from dataflow.testing.samples import batch_of, blob_of, new_run
from tests.stores.sqlite_stores import owned, seqs_of

FIRST = new_run().updated


def with_runs(store: Store, **statuses: str) -> Store:
    """Return a store with runs that were begun one day after the other."""
    for day, (run, status) in enumerate(statuses.items(), start=1):
        store.begin(new_run(run, status=status, day=day)).release()
    return store


def pruned(store: Store, days: int, *statuses: str) -> list[str]:
    """Prune in the evening of the 10th of January."""
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
