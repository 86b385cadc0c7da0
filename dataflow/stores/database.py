"""Create, open and guard the SQLite file of a store, and report its errors (S12.2, S20)."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from dataflow.diagnostics.stores import (
    FILE_FORKED,
    FILE_NOT_A_STORE,
    FILE_REPLACED,
    FILE_UNUSABLE,
    LATER_RELEASE,
)
from dataflow.errors import DataflowError, StoreError
from dataflow.stores.locks import PRIVATE_FILE, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = ["SCHEMA", "VERSION", "Database"]

#: The version of the tables. What version 1 has written, every later release reads.
VERSION: Final = 1

# `held_blobs` records which run wrote a blob, so that deleting a run deletes the blobs that no other run has.
# Times are in UTC as ISO 8601 with microseconds, so that they sort as strings. `data` is JSON, but
# not that of blobs.
SCHEMA: Final = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY, flow TEXT NOT NULL, target TEXT NOT NULL, status TEXT NOT NULL,
    created TEXT NOT NULL, updated TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE records (
    run TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, path TEXT NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (run, seq)
);
CREATE INDEX asks ON records (run, path, seq) WHERE kind IN ('ask_opened', 'ask_answered', 'ask_closed');
CREATE TABLE blobs (sha256 TEXT PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE held_blobs (run TEXT NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (run, sha256)) WITHOUT ROWID;
CREATE INDEX holders ON held_blobs (sha256);
CREATE TABLE inbox (
    place INTEGER PRIMARY KEY, run TEXT NOT NULL, ask TEXT NOT NULL, value TEXT NOT NULL, by TEXT NOT NULL,
    UNIQUE (run, ask)
);
CREATE TABLE memo (fingerprint TEXT PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE schedules (id TEXT PRIMARY KEY, data TEXT NOT NULL)
"""

#: The permissions of a new folder: what a run has seen is for its user alone (S12.2).
PRIVATE_FOLDER: Final = 0o700

#: How long a process waits for the transaction of another process, in seconds.
BUSY: Final = 30.0

_ADVICE: Final = {
    sqlite3.SQLITE_BUSY: f"another process has kept it locked for {BUSY:g} s; try again when that has ended",
    sqlite3.SQLITE_CANTOPEN: "make sure that it and its folder can be read and written",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; put it aside and restore it from a backup",
    sqlite3.SQLITE_FULL: "nothing was written; make room on the disk, then resume what was running",
    sqlite3.SQLITE_IOERR: "nothing was written; check the disk and its room, then resume what was running",
    sqlite3.SQLITE_NOTADB: "name another file, or put this one aside",
    sqlite3.SQLITE_PERM: "make sure that it and its folder can be read and written",
    sqlite3.SQLITE_READONLY: "nothing was written; make it and its folder writable, with room on the disk",
}
#: Error codes of opening a file in a read-only folder or on a full disk.
_NO_LOG: Final = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY}
#: How many free pages one transaction gives back, so that other processes need not wait for long.
PAGES: Final = 1_000
#: How long a fork waits for the transaction of another thread, in seconds.
FORKING: Final = 5.0
#: The device and inode of a file that is not open.
_NO_FILE: Final = (0, 0)
#: Databases that are open. SQLite forbids using a connection in a forked child, or opening its file again,
#: so they are closed while this process is being forked.
_OPEN: Final[set[Database]] = set()
#: Files that were in use even then, by device and inode, and their connections, which may not be closed.
_PARENTS: Final[dict[tuple[int, int], sqlite3.Connection]] = {}


class Database:
    """A file that is opened for each call, or stays open between `keep` and `leave`; one call at a time."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path).absolute()
        self.locks = _beside(self.path, "-locks")
        self._guard = Lock()
        self._keepers = 0
        self._open: sqlite3.Connection | None = None
        self._identity = _NO_FILE  # of the file that is kept open: device and inode
        self._is_suspended = False  # during a fork

    def exists(self) -> bool:
        """Return whether the file exists, or existed when it was opened."""
        with self.store_errors():
            return self._identity != _NO_FILE or self.path.exists()

    def create(self) -> None:
        """Create the file atomically unless it exists."""
        if self.exists():
            return
        with self.store_errors():
            self.path.parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            lock = wait_for(self.lock_file("creating"))
            try:
                if not self.exists():
                    self._write_empty()
            finally:
                lock.release()

    def _write_empty(self) -> None:
        with self._guard:
            self._note_open()
            try:
                _write_empty(self.path)
            finally:
                self._close_unless_kept()

    def lock_file(self, name: str) -> Path:
        """Return the path of a lock file, in a folder that is created on first use."""
        self.locks.mkdir(PRIVATE_FOLDER, exist_ok=True)
        return self.locks / name

    def keep(self) -> None:
        """Keep the file open until `leave` is called as often: opening costs more than a commit."""
        with self._guard:
            self._keepers += 1

    def leave(self) -> None:
        """Undo one `keep`."""
        with self._guard, self.store_errors():
            self._keepers -= 1
            self._close_unless_kept()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep the file open during the block."""
        self.keep()
        try:
            yield
        finally:
            self.leave()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection for one statement; the file must exist."""
        with self._guard, self.store_errors():
            try:
                yield self._connection()
            finally:
                self._close_unless_kept()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection for one transaction, rolled back if the block raises; the file must exist."""
        with self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def shrink(self) -> None:
        """Give the free pages of the file back to the file system; other processes may use it meanwhile."""
        with self.kept():
            with self.reading() as connection:
                free = _free_pages(connection)
                if free and not connection.execute("PRAGMA auto_vacuum").fetchone()[0]:
                    # a file of an earlier release is rewritten, once
                    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
                    connection.execute("VACUUM")
            for _ in range(0, free, PAGES):
                with self.reading() as connection:
                    # not `execute`, which stops at the first page
                    connection.executescript(f"PRAGMA incremental_vacuum({PAGES})")
            with self.reading() as connection:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")  # which waits for no reader

    @contextmanager
    def store_errors(self) -> Iterator[None]:
        """Raise errors of SQLite and of the operating system, and of damaged entries, as StoreError."""
        try:
            yield
        except DataflowError:
            raise
        except ValueError as error:  # a text or time that cannot be decoded
            problem = FILE_UNUSABLE(error=error, advice=_ADVICE[sqlite3.SQLITE_CORRUPT])
            raise StoreError(str(self.path), problem) from error
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            problem = FILE_UNUSABLE(error=error, advice=_ADVICE.get(code, ""))
            raise StoreError(str(self.path), problem) from error
        except OSError as error:
            advice = "make sure that its folder can be written and has room, or name another file"
            raise StoreError(str(self.path), FILE_UNUSABLE(error=error, advice=advice)) from error

    def suspend(self) -> None:
        """Close the file until `go_on`, as this process is being forked; it stays open if it is in use."""
        if self._guard.acquire(timeout=FORKING):
            self._is_suspended = True
            self._close()

    def go_on(self) -> None:
        """Continue after `suspend`; the next call opens the file again."""
        if self._is_suspended:
            self._is_suspended = False
            self._guard.release()

    def forget(self) -> None:
        """Reset the state in a forked child; a connection that is still open remains the parent's."""
        if self._open is not None:
            _PARENTS[self._identity] = self._open
        self._open, self._identity, self._keepers = None, _NO_FILE, 0
        self._guard, self._is_suspended = Lock(), False

    def _connection(self) -> sqlite3.Connection:
        identity = _identity(self.path)
        if identity in _PARENTS:
            raise StoreError(str(self.path), FILE_FORKED())
        if self._identity not in (_NO_FILE, identity):
            raise StoreError(str(self.path), FILE_REPLACED())
        if self._open is None:
            self._note_open()
            self._open, self._identity = _connect(self.path), identity
        return self._open

    def _note_open(self) -> None:
        _watch_forks()
        _OPEN.add(self)

    def _close_unless_kept(self) -> None:
        if not self._keepers:
            self._identity = _NO_FILE
            self._close()
            _OPEN.discard(self)

    def _close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None


@cache
def _watch_forks() -> None:
    os.register_at_fork(before=_suspend_all, after_in_parent=_go_on_all, after_in_child=_forget_all)


def _suspend_all() -> None:
    for database in tuple(_OPEN):
        database.suspend()


def _go_on_all() -> None:
    for database in tuple(_OPEN):
        database.go_on()


def _forget_all() -> None:
    while _OPEN:
        _OPEN.pop().forget()


def _free_pages(connection: sqlite3.Connection) -> int:
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    assert isinstance(free, int)
    return free


def _identity(path: Path) -> tuple[int, int]:
    """Return the device and inode of a file; (0, 0) if it does not exist."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return 0, 0
    return stat.st_dev, stat.st_ino


def _connect(path: Path) -> sqlite3.Connection:
    """Open an existing file; read-only if it has no write-ahead log and none can be created."""
    try:
        return _checked(path, "mode=rw")
    except sqlite3.OperationalError as error:
        log = _beside(path, "-wal")
        if error.sqlite_errorcode & 0xFF not in _NO_LOG or (log.exists() and log.stat().st_size):
            raise
    return _checked(path, "immutable=1")


def _checked(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.as_uri()}?{how}", uri=True, timeout=BUSY, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA synchronous=FULL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != VERSION:
            raise StoreError(str(path), _other_version(version))
    except BaseException:
        connection.close()
        raise
    return connection


def _other_version(version: int) -> Diagnostic:
    if version > VERSION:
        return LATER_RELEASE(expected=f"version {VERSION}", found=f"version {version}")
    return FILE_NOT_A_STORE()


def _write_empty(path: Path) -> None:
    """Write a file with empty tables, and rename it when it is complete."""
    unfinished = _beside(path, "-new")
    # SQLite would apply the log of a removed file to the new one.
    for left_over in (path, unfinished):
        _beside(left_over, "-wal").unlink(missing_ok=True)
        _beside(left_over, "-shm").unlink(missing_ok=True)
    unfinished.unlink(missing_ok=True)
    # SQLite gives its log files the permissions of the file
    os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE))
    with closing(
        sqlite3.connect(f"{unfinished.as_uri()}?mode=rwc", uri=True, isolation_level=None)
    ) as connection:
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(f"BEGIN; {SCHEMA}; PRAGMA user_version={VERSION}; COMMIT")
    unfinished.rename(path)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
