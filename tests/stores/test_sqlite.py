"""The store in an SQLite file passes what every store passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataflow.errors import StoreError
from dataflow.stores import Batch, Store, sqlite
from dataflow.stores.locks import is_taken
from dataflow.testing import ProcessConformance, StoreConformance
from dataflow.testing.samples import new_run


class TestSqlite(StoreConformance):
    def make_store(self, place: Path) -> Store:
        return Store.sqlite(place / "runs.db")


class TestSqliteInProcesses(ProcessConformance):
    def make_store(self, place: Path) -> Store:
        return Store.sqlite(place / "runs.db")


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
    with pytest.raises(StoreError, match="there are none"):
        store.find("run")
