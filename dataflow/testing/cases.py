"""What the tests of a store share: the store under test, and the runs they own."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from dataflow.testing.samples import new_run

if TYPE_CHECKING:
    from pathlib import Path

    from dataflow.stores import Hold, Store, StoredRun

__all__ = ["StoreCases"]


class StoreCases:
    """Tests of one store each, which release what they own at their end."""

    def make_store(self, place: Path) -> Store:
        """Return a store that keeps what it has in a folder, which is empty the first time."""
        raise NotImplementedError

    def setup_method(self) -> None:
        """Own nothing yet."""
        self._owned = ExitStack()

    def teardown_method(self) -> None:
        """Release what the test owns."""
        self._owned.close()

    def begin(self, store: Store, run: StoredRun | None = None) -> Hold:
        """Begin a run and own it until the end of the test."""
        return self._until_end(store.begin(run or new_run()))

    def hold(self, store: Store, run: str) -> Hold:
        """Own a run until the end of the test."""
        return self._until_end(store.hold(run))

    def _until_end(self, hold: Hold) -> Hold:
        self._owned.callback(hold.release)
        return hold
