"""The store in an SQLite file, and its table of cached outcomes (S12.2, S13.1)."""

from __future__ import annotations

import hashlib
import re
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from dataflow.errors import RunTaken, StoreError
from dataflow.stores.database import Database
from dataflow.stores.locks import FileLock, is_taken, take
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
from dataflow.stores.statements import (
    add_answer,
    add_run,
    answers_of,
    delete_runs,
    find_run,
    open_asks,
    page_of,
    read_blob,
    read_runs,
    require_run,
    write_batch,
)
from dataflow.stores.store import (
    NOTHING,
    Answer,
    Batch,
    Hold,
    Record,
    Store,
    StoredAsk,
    StoredRun,
    checked_blob,
    missing_run,
    refuse_secrets,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime
    from os import PathLike

__all__ = ["MOST_BYTES", "SqliteOutcomes", "SqliteStore"]

#: The default size limit of cached outcomes with their blobs, in bytes.
MOST_BYTES: Final = 1_000_000_000
#: How many records one query reads.
PAGE: Final = 500
#: How many runs one transaction deletes at most; the lock of each is an open file.
PART: Final = 100
_PLAIN: Final = re.compile(r"[0-9A-Za-z-]{1,64}")


class SqliteOutcomes(OutcomeTable):
    """Cache outcomes in the table `memo`, at most `most` bytes of them, blobs included."""

    def __init__(self, database: Database, most: int) -> None:
        self._database = database
        self._most = most

    def recall(self, key: str, now: datetime, run: str = "") -> StoredOutcome | None:
        """Return an outcome, and let a run reference its blobs; reading alone takes no transaction."""
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
            return found  # a read-only file can still be read

    def _recall_for(self, key: str, now: datetime, run: str) -> StoredOutcome | None:
        """Record that an outcome was used, and let a run reference its blobs."""
        with self._database.writing() as connection:
            found = self._find(key, connection)
            if found is not None:
                note_use(key, now, connection)
            if found is not None and run:
                hold_blobs(key, run, connection)
            return found

    def remember(self, outcome: StoredOutcome, blobs: Mapping[str, bytes]) -> bool:
        """Store an outcome, and make room for it; the file is created if it does not exist."""
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
        """List the parts of the cache keys of some outcomes of a node type, the newest first."""
        if not self._database.exists():
            return []
        with self._database.reading() as connection:
            return newest_parts(node_type, most, connection) if has_memo(connection) else []

    def forget(self, key: str) -> None:
        """Delete one outcome if it exists."""
        if self._database.exists():
            with self._database.writing() as connection:
                drop_outcome(key, connection)

    def use(self) -> Sequence[MemoUse]:
        """List the size of the cached outcomes of each node type."""
        if not self._database.exists():
            return []
        with self._database.reading() as connection:
            return memo_use(connection) if has_memo(connection) else []

    def clear(self, node_type: str | None = None, before: datetime | None = None) -> int:
        """Delete outcomes; returns how many."""
        if not self._database.exists():
            return 0
        with self._database.kept():
            with self._database.writing() as connection:
                count = clear_outcomes(node_type, before, connection) if has_memo(connection) else 0
            self._database.shrink()
        return count

    def _find(self, key: str, connection: sqlite3.Connection) -> StoredOutcome | None:
        return find_outcome(key, connection, str(self._database.path))


class _Owned:
    """The ownership of a run: its lock, and the database kept open for it."""

    def __init__(self, database: Database, lock: FileLock) -> None:
        self._database = database
        self._lock = lock
        database.keep()

    def release(self) -> None:
        with self._database.store_errors():
            if self._lock.release():
                self._database.leave()


class SqliteStore(Store):
    """Keep runs in one file, created on the first write, with `-wal`, `-shm` and `-locks` beside it.

    Threads and processes of one machine may use it concurrently. A forked process may use it too, and owns
    none of its parent's runs.
    """

    def __init__(self, path: str | PathLike[str], *, memo_bytes: int = MOST_BYTES) -> None:
        self._database = Database(path)
        self._name = str(self._database.path)
        self.outcomes = SqliteOutcomes(self._database, memo_bytes)

    def __repr__(self) -> str:
        return f"Store.sqlite({self._name!r})"

    def __str__(self) -> str:
        return self._name

    def begin(self, run: StoredRun, batch: Batch = NOTHING) -> Hold:
        """Add a new run with its first batch, and own it."""
        self._database.create()

        def add(connection: sqlite3.Connection, store: str) -> None:
            add_run(run, connection, store)
            if batch is not NOTHING:
                write_batch(run.id, batch, connection, store)

        return self._own(run.id, add)

    def hold(self, run: str) -> Hold:
        """Own an existing run; raises RunTaken if it is owned, also by this process."""
        with self._reading(run):
            pass  # it exists, else no lock file is created
        return self._own(run, partial(require_run, run))

    def commit(self, run: str, batch: Batch, *, unless_answered: bool = False) -> Sequence[Answer]:
        """Write a batch in one transaction and return the answers that are pending then."""
        with self._writing(run) as connection:
            answers = [answer for answer in answers_of(run, connection) if answer.ask not in batch.taken]
            if not (answers and unless_answered):
                write_batch(run, batch, connection, self._name)
            return answers

    def answer(self, run: str, *answers: Answer) -> None:
        """Add pending answers, all or none; raises AnswerRefused for an ask that has one or is closed."""
        refuse_secrets(answers)
        with self._writing(run) as connection:
            for answer in answers:
                add_answer(run, answer, connection)

    def runs(self) -> Sequence[StoredRun]:
        """List all runs, the newest first."""
        if not self._database.exists():
            return []
        with self._database.kept():
            with self._database.reading() as connection:
                found = read_runs(connection)
            return [run for run in map(self._with_current_status, found) if run is not None]

    def find(self, run: str) -> StoredRun:
        """Return one run; raises StoreError, which lists available runs."""
        with self._database.kept():
            while True:
                with self._reading(run) as connection:
                    found = require_run(run, connection, self._name)
                if current := self._with_current_status(found):
                    return current

    def inbox(self, run: str) -> Sequence[Answer]:
        """List the pending answers of a run."""
        with self._reading(run) as connection:
            return answers_of(run, connection)

    def asks(self) -> Sequence[StoredAsk]:
        """List the open asks of all runs by an index, without reading journals."""
        if not self._database.exists():
            return []
        with self._database.reading() as connection:
            return open_asks(connection)

    def records(self, run: str, after: int = 0) -> Iterator[Record]:
        """Read the journal of a run in order, page by page: a slow reader blocks no writer."""
        with self._reading(run) as connection:
            page = page_of(run, after, PAGE, connection, self._name)
        return self._from_page(run, page)

    def blob(self, sha256: str) -> bytes:
        """Return a blob; raises StoreError if it is missing or damaged."""
        if not self._database.exists():
            return checked_blob(self._name, sha256, None)
        with self._database.reading() as connection:
            data = read_blob(sha256, connection)
        return checked_blob(self._name, sha256, data)

    def delete(self, run: str) -> None:
        """Delete a run with its journal and the blobs that only it has; raises RunTaken if it is owned."""
        hold = self.hold(run)
        try:
            with self._writing(run) as connection:
                delete_runs([run], connection)
        finally:
            hold.release()

    def delete_all(self, runs: Sequence[str]) -> Sequence[str]:
        """Delete runs and return their ids; then return the free space of the file to the file system."""
        if not self._database.exists():
            return []
        with self._database.kept():
            parts = [self._delete_some(runs[at : at + PART]) for at in range(0, len(runs), PART)]
            self._database.shrink()
        return [run for part in parts for run in part]

    def _delete_some(self, runs: Sequence[str]) -> Sequence[str]:
        """Delete those of a few runs that exist and are not owned, in one transaction."""
        with ExitStack() as owned:
            taken = [run for run in runs if self._take(run, owned)]
            with self._database.writing() as connection:
                found = [run for run in taken if find_run(run, connection) is not None]
                delete_runs(found, connection)
            return found

    def _take(self, run: str, owned: ExitStack) -> bool:
        """Take the lock of a run while a block runs; return whether it was free."""
        with self._database.store_errors():
            lock = take(self._database.lock_file(_lock_name(run)))
        if lock is not None:
            owned.callback(lock.release)
        return lock is not None

    @contextmanager
    def _reading(self, run: str) -> Iterator[sqlite3.Connection]:
        if not self._database.exists():
            raise missing_run(self._name, run, [])
        with self._database.reading() as connection:
            require_run(run, connection, self._name)
            yield connection

    @contextmanager
    def _writing(self, run: str) -> Iterator[sqlite3.Connection]:
        if not self._database.exists():
            raise missing_run(self._name, run, [])
        with self._database.writing() as connection:
            require_run(run, connection, self._name)
            yield connection

    def _own(self, run: str, claim: Callable[[sqlite3.Connection, str], object]) -> Hold:
        """Take the lock of a run, and release it if the run cannot be claimed in the database."""
        with self._database.store_errors():
            lock = take(self._database.lock_file(_lock_name(run)))
        if lock is None:
            raise RunTaken(self._name, run)
        hold = _Owned(self._database, lock)
        try:
            with self._database.writing() as connection:
                claim(connection, self._name)
        except BaseException:
            hold.release()
            raise
        return hold

    def _with_current_status(self, run: StoredRun) -> StoredRun | None:
        """Return a run as `interrupted` if it is running without an owner; None if it was deleted meanwhile.

        The owner writes the last status before it releases the lock, so a status that was read before the
        lock was found free may be outdated: only if a second read returns the same run was it abandoned.
        """
        while run.status == "running" and not self._is_owned(run.id):
            with self._database.reading() as connection:
                again = find_run(run.id, connection)
            if again is None:
                return None
            if again == run:
                return replace(run, status="interrupted")
            run = again
        return run

    def _is_owned(self, run: str) -> bool:
        with self._database.store_errors():
            return is_taken(self._database.locks / _lock_name(run))

    def _from_page(self, run: str, page: Sequence[Record]) -> Iterator[Record]:
        while page:
            yield from page
            with self._database.reading() as connection:
                page = page_of(run, page[-1].seq, PAGE, connection, self._name)


def _lock_name(run: str) -> str:
    """Return the name of the lock file of a run: its id, or the hash of an id that is not a file name."""
    name = run if _PLAIN.fullmatch(run) else hashlib.sha256(run.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{name}.lock"
