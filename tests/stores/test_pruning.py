"""Runs that nobody needs any more are deleted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from dataflow.errors import StoreError
from dataflow.stores import Store, StoredRun
from dataflow.stores.memory import MemoryStore
from dataflow.stores.pruning import prune
from dataflow.testing.samples import batch_of, new_run

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
