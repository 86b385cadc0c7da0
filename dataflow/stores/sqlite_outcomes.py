"""The outcomes that are remembered in the SQLite file of a store (S13.1, S20)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataflow.errors import StoreError
from dataflow.stores.memo_statements import (
    add_outcome,
    clear_outcomes,
    drop_outcome,
    find_outcome,
    has_memo,
    hold_blobs,
    is_stale,
    make_room,
    memo_use,
    newest_parts,
    note_use,
    prepare_memo,
)
from dataflow.stores.outcomes import MemoUse, OutcomeTable, StoredOutcome, StoredParts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from dataflow.stores.database import Database

__all__ = ["MOST_BYTES", "SqliteOutcomes"]

#: How many bytes outcomes take at most, with their blobs, unless a store is told otherwise.
MOST_BYTES: Final = 1_000_000_000


class SqliteOutcomes(OutcomeTable):
    """Remember outcomes in the table `memo`, at most so many bytes of them, blobs included."""

    def __init__(self, database: Database, most: int) -> None:
        self._database = database
        self._most = most

    def recall(self, key: str, now: datetime, run: str = "") -> StoredOutcome | None:
        """Return an outcome, for a run that then has its blobs; reading alone takes no transaction."""
        if not self._database.exists():
            return None
        with self._database.reading() as connection:
            found = self._find(key, connection)
            if found is None or not (is_stale(key, now, connection) or (run and found.blobs)):
                return found
        try:
            return self._recall_for(key, now, run)
        except StoreError:
            if run and found.blobs:
                raise
            return found  # a file that cannot be written can be read

    def _recall_for(self, key: str, now: datetime, run: str) -> StoredOutcome | None:
        """Note that an outcome was of use, and let a run hold its blobs."""
        with self._database.writing() as connection:
            found = self._find(key, connection)
            if found is not None:
                note_use(key, now, connection)
            if found is not None and run:
                hold_blobs(key, run, connection)
            return found

    def remember(self, outcome: StoredOutcome, blobs: Mapping[str, bytes]) -> bool:
        """Remember an outcome, and make room for it; the file is made if there is none."""
        texts = (outcome.key, outcome.type, outcome.parts, outcome.data)
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        size += sum(map(len, blobs.values()))
        if size > self._most:
            return False
        self._database.create()
        with self._database.writing() as connection:
            prepare_memo(connection)
            drop_outcome(outcome.key, connection)
            make_room(self._most - size, outcome.created, connection)
            add_outcome(outcome, blobs, size, connection)
        return True

    def newest(self, node_type: str, most: int) -> Sequence[StoredParts]:
        """List what some outcomes of a node type are made of, what was remembered last first."""
        if not self._database.exists():
            return []
        with self._database.reading() as connection:
            return newest_parts(node_type, most, connection) if has_memo(connection) else []

    def forget(self, key: str) -> None:
        """Forget one outcome, if it is there."""
        if self._database.exists():
            with self._database.writing() as connection:
                drop_outcome(key, connection)

    def use(self) -> Sequence[MemoUse]:
        """Tell what is remembered by node types."""
        if not self._database.exists():
            return []
        with self._database.reading() as connection:
            return memo_use(connection) if has_memo(connection) else []

    def clear(self, node_type: str | None = None, before: datetime | None = None) -> int:
        """Forget outcomes; returns how many there were."""
        if not self._database.exists():
            return 0
        with self._database.writing() as connection:
            return clear_outcomes(node_type, before, connection) if has_memo(connection) else 0

    def _find(self, key: str, connection: sqlite3.Connection) -> StoredOutcome | None:
        return find_outcome(key, connection, str(self._database.path))
