"""What the store in an SQLite file does with outcomes: as many as there is room for, in files of any age."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from dataflow.errors import StoreError
from dataflow.stores import OutcomeTable, Store
from dataflow.testing.outcomes import NOON, new_outcome
from dataflow.testing.samples import blob_of

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
