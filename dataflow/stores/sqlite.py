"""A store in a SQLite file."""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
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
    delete_run,
    find_run,
    open_asks,
    page_of,
    read_blob,
    read_runs,
    require_run,
    write_batch,
)
from dataflow.stores.store import Answer, Batch, Hold, Record, Store, StoredAsk, StoredRun
from dataflow.stores.telling import missing_run, right_blob

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime
    from os import PathLike


__all__ = ["MOST_BYTES", "SqliteOutcomes", "SqliteStore"]

#: How many bytes outcomes take at most, with their blobs, unless a store is told otherwise.
MOST_BYTES: Final = 1_000_000_000
#: How many records are read at once.
PAGE: Final = 500
_PLAIN: Final = re.compile(r"[0-9A-Za-z-]{1,64}")


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


class _Owned:
    """A run that is owned: its lock, and the database kept open for it."""

    def __init__(self, database: Database, lock: FileLock) -> None:
        self._database = database
        self._lock = lock
        database.keep()

    def release(self) -> None:
        with self._database.telling():
            if self._lock.release():
                self._database.leave()


class SqliteStore(Store):
    """Keep runs in one file, made when something is first written, with `-wal`, `-shm` and `-locks` beside.

    Any number of threads and processes of one machine may use it at once. A process that was forked while the
    file was open cannot use it, and owns none of its parent's runs.
    """

    def __init__(self, path: str | PathLike[str], *, memo_bytes: int = MOST_BYTES) -> None:
        self._database = Database(path)
        self._name = str(self._database.path)
        self.outcomes = SqliteOutcomes(self._database, memo_bytes)

    def __repr__(self) -> str:
        return f"Store.sqlite({self._name!r})"

    def __str__(self) -> str:
        return self._name

    def begin(self, run: StoredRun) -> Hold:
        """Note a new run and own it."""
        self._database.create()
        return self._own(run.id, partial(add_run, run))

    def hold(self, run: str) -> Hold:
        """Own a run that is there; raises RunTaken if somebody has it, also in this process."""
        with self._reading(run):
            pass  # it is there, so that no lock is made for nothing
        return self._own(run, partial(require_run, run))

    def commit(self, run: str, batch: Batch, *, unless_answered: bool = False) -> Sequence[Answer]:
        """Write a batch in one transaction and return what the inbox holds then."""
        with self._writing(run) as connection:
            answers = [answer for answer in answers_of(run, connection) if answer.ask not in batch.taken]
            if not (answers and unless_answered):
                write_batch(run, batch, connection, self._name)
            return answers

    def answer(self, run: str, *answers: Answer) -> None:
        """Put answers in the inbox, or none; raises AnswerRefused if an ask has one or takes none."""
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
            told = map(self._told, found)
            return [run for run in told if run is not None]

    def find(self, run: str) -> StoredRun:
        """Return one run; raises StoreError naming some that there are."""
        with self._database.kept():
            while True:
                with self._reading(run) as connection:
                    found = require_run(run, connection, self._name)
                if told := self._told(found):
                    return told

    def inbox(self, run: str) -> Sequence[Answer]:
        """List the answers that the owner of a run has not taken yet."""
        with self._reading(run) as connection:
            return answers_of(run, connection)

    def asks(self) -> Sequence[StoredAsk]:
        """List the open asks of all runs: an index has their records."""
        if not self._database.exists():
            return []
        with self._database.reading() as connection:
            return open_asks(connection)

    def records(self, run: str, after: int = 0) -> Iterator[Record]:
        """Read the journal of a run in order, some records at a time: nobody waits for a slow reader."""
        with self._reading(run) as connection:
            page = page_of(run, after, PAGE, connection)
        return self._from_page(run, page)

    def blob(self, sha256: str) -> bytes:
        """Return a blob; raises StoreError if it is not there or not what its name says."""
        if not self._database.exists():
            return right_blob(self._name, sha256, None)
        with self._database.reading() as connection:
            data = read_blob(sha256, connection)
        return right_blob(self._name, sha256, data)

    def delete(self, run: str) -> None:
        """Delete a run with its journal and the blobs that only it has; raises RunTaken if owned."""
        hold = self.hold(run)
        try:
            with self._writing(run) as connection:
                delete_run(run, connection)
        finally:
            hold.release()

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
        """Take the lock of a run, and give it back if the run cannot be claimed in the database."""
        with self._database.telling():
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

    def _told(self, run: StoredRun) -> StoredRun | None:
        """Say `interrupted` for a run that nobody executes; None if it was deleted meanwhile.

        The owner writes the last status before it gives the lock up, so what was read before the lock was
        found free may be out of date: only if it is still so afterwards has the run been left alone.
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
        with self._database.telling():
            return is_taken(self._database.locks / _lock_name(run))

    def _from_page(self, run: str, page: Sequence[Record]) -> Iterator[Record]:
        while page:
            yield from page
            with self._database.reading() as connection:
                page = page_of(run, page[-1].seq, PAGE, connection)


def _lock_name(run: str) -> str:
    """Return the name of the lock file of a run: by its id, or its digest if that is no name for a file."""
    name = run if _PLAIN.fullmatch(run) else hashlib.sha256(run.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{name}.lock"
