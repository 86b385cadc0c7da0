"""Conformance tests for journals, runs and blobs: written atomically, and read in order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from dataflow.errors import StoreError
from dataflow.stores import Batch, Record
from dataflow.testing.cases import StoreCases
from dataflow.testing.samples import batch_of, blob_of, new_run, record, refused

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["BlobCases", "JournalCases", "RunCases"]

#: Names and data may be any string: node paths, flows, ids of asks.
ODD_NAMES = (
    "",
    "p/q[3]/r",
    'it\'s "quoted"; -- %s ?',
    "line\nbreak\x00zero",
    "Grüße 🎏",
    "half \ud83d of a pair",
)


class JournalCases(StoreCases):
    """A store returns the records of a journal unchanged and in order."""

    def test_records_are_read_in_order_as_they_were_written(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        written = [Record(seq, "node_started", name, name) for seq, name in enumerate(ODD_NAMES, start=1)]
        store.commit("run", Batch(written[:2]))
        store.commit("run", Batch(written[2:]))
        assert list(store.records("run")) == written

    def test_a_batch_may_be_written_in_any_order(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        store.commit("run", batch_of(3, 1, 2))
        assert [found.seq for found in store.records("run")] == [1, 2, 3]

    def test_a_journal_is_read_from_behind_a_number_on(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        store.commit("run", batch_of(1, 2, 5, 6))
        assert [found.seq for found in store.records("run", after=2)] == [5, 6]

    def test_a_long_journal_is_read_while_it_grows(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        store.commit("run", batch_of(*range(1, 2_001)))
        reading = store.records("run")
        assert [found.seq for found in islice(reading, 10)] == [*range(1, 11)]
        store.commit("run", batch_of(2_001))
        assert [found.seq for found in reading][:1_990] == [*range(11, 2_001)]

    def test_a_reader_that_stops_early_keeps_nobody_from_writing(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        store.commit("run", batch_of(1, 2, 3))
        reading = store.records("run")
        next(reading)
        store.commit("run", batch_of(4))
        assert len(list(store.records("run"))) == 4

    def test_of_a_batch_that_fails_nothing_is_written(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        store.commit("run", batch_of(1))
        before = store.find("run")
        blobs = blob_of(b"of the batch")
        with refused(StoreError):
            store.commit("run", Batch([record(2), record(1)], blobs, status="completed"))
        assert [found.seq for found in store.records("run")] == [1]
        assert store.find("run") == before
        with refused(StoreError):
            store.blob(*blobs)

    def test_a_batch_that_failed_can_be_written_when_it_is_right(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        store.commit("run", batch_of(1))
        with refused(StoreError):
            store.commit("run", batch_of(2, 1))
        store.commit("run", batch_of(2, 3))
        assert [found.seq for found in store.records("run")] == [1, 2, 3]

    def test_runs_keep_their_records_apart(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store, new_run("one"))
        self.begin(store, new_run("two"))
        store.commit("one", batch_of(1, 2))
        store.commit("two", batch_of(1))
        assert [len(list(store.records(run))) for run in ("one", "two")] == [2, 1]


class RunCases(StoreCases):
    """A store lists, finds and deletes its runs."""

    def test_a_new_store_has_no_runs(self, tmp_path: Path) -> None:
        assert not self.make_store(tmp_path).runs()

    def test_a_run_is_told_as_it_was_begun(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        for day, name in enumerate(ODD_NAMES, start=1):
            run = replace(new_run(f"run {name}", day=day), flow=name, target=name)
            self.begin(store, run)
            assert store.find(run.id) == run

    def test_runs_are_listed_with_the_newest_first(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        for day in (2, 3, 1):
            self.begin(store, new_run(f"run-{day}", day=day))
        assert [run.id for run in store.runs()] == ["run-3", "run-2", "run-1"]

    def test_a_batch_changes_the_status_if_it_has_one(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        store.commit("run", Batch([record(1)], status="paused"))
        store.commit("run", batch_of(2))
        assert store.find("run").status == "paused"
        assert [run.status for run in store.runs()] == ["paused"]

    def test_a_batch_notes_when_it_was_written(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        store.commit("run", batch_of(1))
        found = store.find("run")
        assert found.updated > found.created
        assert found.updated.utcoffset() == timedelta(0)

    def test_a_run_is_begun_once(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store, new_run(status="paused")).release()
        with refused(StoreError, naming="run"):
            self.begin(store)
        assert store.find("run").status == "paused"
        self.hold(store, "run").release()

    def test_a_run_is_begun_with_its_first_batch(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        blobs = blob_of(b"of the start")
        self.begin(store, None, Batch([record(1)], blobs, status="paused"))
        assert (list(store.records("run")), store.find("run").status) == ([record(1)], "paused")
        assert {name: store.blob(name) for name in blobs} == blobs
        store.commit("run", batch_of(2))

    def test_a_run_whose_first_batch_fails_is_not_there(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        blobs = blob_of(b"of the start")
        with refused(StoreError):
            self.begin(store, None, Batch([record(1), record(1)], blobs))
        assert not store.runs()
        with refused(StoreError):
            store.blob(*blobs)
        self.begin(store, None, Batch([record(1)], blobs))
        assert len(list(store.records("run"))) == 1

    def test_a_missing_run_is_told_with_some_that_are_there(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store, new_run("there")).release()
        for use in (store.find, store.hold, store.inbox, store.records, store.delete):
            with refused(StoreError, naming="there"):
                use("missing")
        with refused(StoreError, naming="there"):
            store.commit("missing", batch_of(1))

    def test_a_deleted_run_is_gone(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        for id in ("kept", "run"):
            hold = self.begin(store, new_run(id))
            store.commit(id, batch_of(1))
            hold.release()
        store.delete("run")
        assert [run.id for run in store.runs()] == ["kept"]
        assert len(list(store.records("kept"))) == 1

    def test_nothing_of_a_deleted_run_is_left_to_one_of_its_name(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        hold = self.begin(store)
        store.commit("run", batch_of(1))
        hold.release()
        store.delete("run")
        self.begin(store)
        assert not list(store.records("run"))


class BlobCases(StoreCases):
    """Runs share blobs, which are deleted with the last run that has them."""

    def test_a_blob_is_read_as_it_was_written(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        blobs = blob_of(b"") | blob_of(bytes(range(256)) * 1_000)
        store.commit("run", Batch([record(1)], blobs))
        assert {name: store.blob(name) for name in blobs} == blobs

    def test_a_missing_blob_is_told(self, tmp_path: Path) -> None:
        (name,) = blob_of(b"missing")
        with refused(StoreError, naming=name):
            self.make_store(tmp_path).blob(name)

    def test_a_blob_that_is_not_what_its_name_says_is_told(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        (name,) = blob_of(b"right")
        store.commit("run", Batch(blobs={name: b"wrong"}))
        with refused(StoreError, naming=name):
            store.blob(name)

    def test_a_blob_that_is_there_may_be_written_again(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        self.begin(store)
        blobs = blob_of(b"twice")
        store.commit("run", Batch([record(1)], blobs))
        store.commit("run", Batch([record(2)], blobs))
        assert store.blob(*blobs) == b"twice"

    def test_a_blob_is_deleted_with_the_last_run_that_has_it(self, tmp_path: Path) -> None:
        store = self.make_store(tmp_path)
        blobs = blob_of(b"shared")
        for id in ("one", "two"):
            hold = self.begin(store, new_run(id))
            store.commit(id, Batch([record(1)], blobs))
            hold.release()
        store.delete("one")
        assert store.blob(*blobs) == b"shared"
        store.delete("two")
        with refused(StoreError):
            store.blob(*blobs)
