"""The base of the conformance tests: the store under test, and the runs that a test owns."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from dataflow.stores.store import NOTHING
from dataflow.testing.samples import new_run

if TYPE_CHECKING:
    from pathlib import Path

    from dataflow.stores import Batch, Hold, Store, StoredRun

__all__ = ["StoreCases"]


class StoreCases:
    """Tests of a store, which release the runs that they own at their end."""

    def make_store(self, place: Path) -> Store:
        """Return a store that keeps its data in a folder, which is empty at the first call."""
        raise NotImplementedError

    def setup_method(self) -> None:
        """Start without owned runs."""
        self._owned = ExitStack()

    def teardown_method(self) -> None:
        """Release the runs that the test owns."""
        self._owned.close()

    def begin(self, store: Store, run: StoredRun | None = None, batch: Batch = NOTHING) -> Hold:
        """Begin a run and own it until the end of the test."""
        return self._until_end(store.begin(run or new_run(), batch))

    def hold(self, store: Store, run: str) -> Hold:
        """Own a run until the end of the test."""
        return self._until_end(store.hold(run))

    def _until_end(self, hold: Hold) -> Hold:
        self._owned.callback(hold.release)
        return hold
