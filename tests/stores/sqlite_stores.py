"""Stores in SQLite files, for the tests of what happens to the files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dataflow.stores import Hold, Store
from dataflow.testing.cases import StoreCases
from dataflow.testing.samples import batch_of, new_run

__all__ = ["Sqlite", "owned", "seqs_of", "written"]


class Sqlite(StoreCases):
    """How another process finds the store of a folder."""

    def make_store(self, place: Path) -> Store:
        return Store.sqlite(place / "runs.db")


@contextmanager
def owned(hold: Hold) -> Iterator[Hold]:
    try:
        yield hold
    finally:
        hold.release()


def written(path: Path, seqs: int = 2) -> Store:
    store = Store.sqlite(path)
    with owned(store.begin(new_run())):
        store.commit("run", batch_of(*range(1, seqs + 1)))
    return store


def seqs_of(store: Store, run: str = "run") -> list[int]:
    return [found.seq for found in store.records(run)]
