"""The store in an SQLite file passes what every store passes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from dataflow.stores import Batch, Store
from dataflow.stores.statements import open_asks
from dataflow.testing import OutcomeConformance, ProcessConformance, StoreConformance
from dataflow.testing.samples import batch_of, new_run, record
from tests.stores.sqlite_stores import owned


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
    """Count what SQLite does to find the open asks."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    with closing(sqlite3.connect(path)) as connection:
        connection.set_progress_handler(step, 1)
        assert len(open_asks(connection)) == 10
    return count
