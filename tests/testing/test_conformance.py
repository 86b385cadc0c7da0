"""The tests for stores notice what is wrong with one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dataflow.errors import DataflowError
from dataflow.stores import Answer, Batch, Hold, Store, StoredRun
from dataflow.stores.memory import MemoryStore
from dataflow.testing import StoreConformance


class HalfABatch(MemoryStore):
    """Write record after record."""

    def commit(self, run: str, batch: Batch, *, unless_answered: bool = False) -> Sequence[Answer]:
        for record in batch.records:
            super().commit(run, Batch([record]))
        return super().commit(run, replace(batch, records=()), unless_answered=unless_answered)


class Overlooking(MemoryStore):
    """Give a run up although it was answered."""

    def commit(self, run: str, batch: Batch, *, unless_answered: bool = False) -> Sequence[Answer]:
        return super().commit(run, batch)


class TakingNothing(MemoryStore):
    """Leave the answers where they are."""

    def commit(self, run: str, batch: Batch, *, unless_answered: bool = False) -> Sequence[Answer]:
        return super().commit(run, replace(batch, taken=()), unless_answered=unless_answered)


class TwoOwners(MemoryStore):
    """Give a run to everybody."""

    def hold(self, run: str) -> Hold:
        self._entry(run).owned = False
        return super().hold(run)


class NeverInterrupted(MemoryStore):
    """Tell the status as it was written."""

    def find(self, run: str) -> StoredRun:
        return self._entry(run).run


class OldestFirst(MemoryStore):
    """List runs the wrong way round."""

    def runs(self) -> Sequence[StoredRun]:
        return super().runs()[::-1]


class KeepingBlobs(MemoryStore):
    """Find blobs of runs that are deleted."""

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[str, bytes] = {}

    def blob(self, sha256: str) -> bytes:
        return self._found.get(sha256) or self._found.setdefault(sha256, super().blob(sha256))


class AnsweredTwice(MemoryStore):
    """Take the last answer."""

    def answer(self, run: str, *answers: Answer) -> None:
        self._entry(run).inbox |= {answer.ask: answer for answer in answers}


def failures_of(store: Callable[[], Store], folder: Path) -> list[str]:
    """Return the tests that a store fails."""

    class Cases(StoreConformance):
        def make_store(self, place: Path) -> Store:
            return store()

    failed = []
    for name in dir(Cases):
        if name.startswith("test_"):
            cases = Cases()
            cases.setup_method()
            try:
                getattr(cases, name)(folder)
            except (AssertionError, DataflowError, ValueError):
                failed.append(name)
            cases.teardown_method()
    return failed


WRONG: dict[type[MemoryStore], str] = {
    HalfABatch: "test_a_batch_that_failed_can_be_written_when_it_is_right",
    Overlooking: "test_nothing_is_written_unless_answered_if_the_inbox_has_an_answer",
    TakingNothing: "test_an_answer_waits_until_the_owner_takes_it",
    TwoOwners: "test_of_many_holds_at_once_one_wins",
    NeverInterrupted: "test_a_running_run_without_an_owner_is_interrupted",
    OldestFirst: "test_runs_are_listed_with_the_newest_first",
    KeepingBlobs: "test_a_blob_is_deleted_with_the_last_run_that_has_it",
    AnsweredTwice: "test_of_many_answers_at_once_one_is_taken",
}


def test_the_tests_notice_a_wrong_store(subtests: pytest.Subtests, tmp_path: Path) -> None:
    assert failures_of(MemoryStore, tmp_path) == []
    for store, noticed in WRONG.items():
        with subtests.test(store.__name__):
            assert noticed in failures_of(store, tmp_path)
