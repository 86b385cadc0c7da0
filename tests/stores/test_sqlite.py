"""The store in an SQLite file passes what every store passes."""

from __future__ import annotations

from pathlib import Path

from dataflow.stores import Store
from dataflow.testing import ProcessConformance, StoreConformance


class TestSqlite(StoreConformance):
    def make_store(self, place: Path) -> Store:
        return Store.sqlite(place / "runs.db")


class TestSqliteInProcesses(ProcessConformance):
    def make_store(self, place: Path) -> Store:
        return Store.sqlite(place / "runs.db")
