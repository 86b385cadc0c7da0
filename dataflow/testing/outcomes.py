"""Conformance tests for outcome tables: cached outcomes are found, replaced, and deleted with their blobs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from dataflow.errors import StoreError
from dataflow.stores import Batch, StoredOutcome
from dataflow.testing.cases import StoreCases
from dataflow.testing.journals import ODD_NAMES
from dataflow.testing.samples import blob_of, new_run, record, refused

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dataflow.stores import OutcomeTable, Store

__all__ = ["OutcomeCases", "new_outcome"]

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def new_outcome(
    key: str = "k1",
    *,
    type: str = "t",
    day: int = 1,
    data: str = "{}",
    blobs: Mapping[str, bytes] | None = None,
) -> StoredOutcome:
    """Return an outcome that was stored on a day of January."""
    parts = f'{{"input":"{key}"}}'
    return StoredOutcome(key, type, parts, data, NOON + (day - 1) * DAY, blobs=sorted(blobs or {}))


class OutcomeCases(StoreCases):
    """The outcome table of a store keeps its protocol."""

    def make_table(self, store: Store) -> OutcomeTable:
        """Return the outcome table of a store, which must have one."""
        assert store.outcomes is not None, "the store remembers outcomes"
        return store.outcomes

    def test_an_outcome_is_found_as_it_was_remembered(self, tmp_path: Path) -> None:
        table = self.make_table(self.make_store(tmp_path))
        for number, name in enumerate(ODD_NAMES):
            outcome = replace(
                new_outcome(f"k{number}"), type=name, parts=name, data=name, expires=NOON + 2 * DAY
            )
            assert table.remember(outcome, {})
            assert table.recall(outcome.key, NOON) == outcome

    def test_what_is_not_remembered_is_not_found(self, tmp_path: Path) -> None:
        table = self.make_table(self.make_store(tmp_path))
        assert table.recall("k1", NOON) is None
        assert not table.newest("t", 9)
        assert not table.use()
        assert table.clear() == 0
        table.forget("k1")
        table.remember(new_outcome("k2"), {})
        assert table.recall("k1", NOON) is None

    def test_the_later_outcome_stands_under_a_key(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        table = self.make_table(store)
        old, new = blob_of(b"old"), blob_of(b"new")
        table.remember(new_outcome(blobs=old), old)
        later = new_outcome(day=2, data="[]", blobs=new)
        table.remember(later, new)
        assert table.recall("k1", NOON) == later
        assert {name: store.blob(name) for name in new} == new
        with refused(StoreError):
            store.blob(*old)

    def test_a_blob_goes_with_the_last_outcome_that_has_it(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        table = self.make_table(store)
        blobs = blob_of(b"shared")
        for key in ("k1", "k2"):
            table.remember(new_outcome(key, blobs=blobs), blobs)
        table.forget("k1")
        assert store.blob(*blobs) == b"shared"
        table.forget("k2")
        with refused(StoreError):
            store.blob(*blobs)

    def test_a_blob_that_a_run_has_too_outlives_the_outcome(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        table = self.make_table(store)
        blobs = blob_of(b"shared")
        hold = self.begin(store)
        store.commit("run", Batch([record(1)], blobs))
        table.remember(new_outcome(blobs=blobs), blobs)
        table.clear()
        assert store.blob(*blobs) == b"shared"
        hold.release()
        store.delete("run")
        with refused(StoreError):
            store.blob(*blobs)

    def test_a_blob_that_an_outcome_has_too_outlives_the_run(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        table = self.make_table(store)
        blobs = blob_of(b"shared")
        table.remember(new_outcome(blobs=blobs), blobs)
        hold = self.begin(store)
        store.commit("run", Batch([record(1)], blobs))
        hold.release()
        store.delete("run")
        assert store.blob(*blobs) == b"shared"
        assert table.recall("k1", NOON) == new_outcome(blobs=blobs)

    def test_a_run_has_the_blobs_of_what_it_recalls(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        table = self.make_table(store)
        blobs = blob_of(b"recalled") | blob_of(b"as well")
        table.remember(new_outcome(blobs=blobs), blobs)
        hold = self.begin(store)
        assert table.recall("k1", NOON, "run") == new_outcome(blobs=blobs)
        table.clear()
        assert {name: store.blob(name) for name in blobs} == blobs
        hold.release()
        store.delete("run")
        for name in blobs:
            with refused(StoreError):
                store.blob(name)

    def test_the_newest_of_a_node_type_come_first(self, tmp_path: Path) -> None:
        table = self.make_table(self.make_store(tmp_path))
        for day in (2, 4, 1, 3):
            table.remember(new_outcome(f"k{day}", day=day), {})
            table.remember(new_outcome(f"other{day}", type="u", day=day), {})
        for key, day in (("k1", 11), ("k5", 15)):
            table.remember(new_outcome(key, day=day), {})
        found = table.newest("t", 3)
        assert [(one.key, one.parts) for one in found] == [
            ("k5", '{"input":"k5"}'),
            ("k1", '{"input":"k1"}'),
            ("k4", '{"input":"k4"}'),
        ]
        assert found[1].created == NOON + 10 * DAY

    def test_what_is_remembered_is_told_by_node_types(self, tmp_path: Path) -> None:
        table = self.make_table(self.make_store(tmp_path))
        blobs = blob_of(b"x" * 10_000)
        table.remember(new_outcome("k1", type="b", day=3), {})
        table.remember(new_outcome("k2", type="b", day=2), {})
        table.remember(new_outcome("k3", type="a", blobs=blobs), blobs)
        use = table.use()
        assert [(one.type, one.entries, one.newest) for one in use] == [
            ("a", 1, NOON),
            ("b", 2, NOON + 2 * DAY),
        ]
        assert use[0].size > 10_000 > use[1].size > 0

    def test_outcomes_are_cleared_by_type_and_by_age(self, tmp_path: Path) -> None:
        table = self.make_table(self.make_store(tmp_path))
        for kind in "ab":
            for day in (1, 2, 3):
                table.remember(new_outcome(f"{kind}{day}", type=kind, day=day), {})
        assert table.clear("a", NOON + DAY) == 1
        assert table.clear(before=NOON + DAY) == 1
        assert table.clear("c") == 0
        assert table.clear("b") == 2
        assert [one.key for one in table.newest("a", 9)] == ["a3", "a2"]
        assert table.clear() == 2
        assert not table.use()

    def test_many_threads_remember_at_once(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        table = self.make_table(store)
        blobs = blob_of(b"of all")

        def remember(number: int) -> bool:
            key = f"k{number % 4}"
            return (
                table.remember(new_outcome(key, blobs=blobs), blobs) and table.recall(key, NOON) is not None
            )

        with ThreadPoolExecutor(8) as threads:
            assert all(threads.map(remember, range(32)))
        assert [one.entries for one in table.use()] == [4]
        assert store.blob(*blobs) == b"of all"

    def test_outcomes_need_no_run_and_runs_no_outcome(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.make_table(store).remember(new_outcome(), {})
        assert not store.runs()
        self.begin(store, new_run())
        assert [one.entries for one in self.make_table(store).use()] == [1]
