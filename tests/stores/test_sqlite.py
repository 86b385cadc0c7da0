"""The store in an SQLite file passes what every store passes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dataflow.errors import StoreError
from dataflow.stores import Batch, Store, sqlite
from dataflow.stores.locks import is_taken
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


def test_a_run_that_ends_while_it_is_looked_at_is_not_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.sqlite(tmp_path / "runs.db")
    hold = store.begin(new_run())

    def ended_first(path: Path) -> bool:
        store.commit("run", Batch(status="completed"))
        hold.release()
        return is_taken(path)

    monkeypatch.setattr(sqlite, "is_taken", ended_first)
    assert store.find("run").status == "completed"


def test_a_run_that_is_deleted_while_it_is_looked_at_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.sqlite(tmp_path / "runs.db")
    store.begin(new_run()).release()

    def deleted_first(path: Path) -> bool:
        monkeypatch.setattr(sqlite, "is_taken", is_taken)
        store.delete("run")
        return is_taken(path)

    monkeypatch.setattr(sqlite, "is_taken", deleted_first)
    assert not store.runs()
    with pytest.raises(StoreError, match="DF1102"):
        store.find("run")
