"""SQL statements for cached outcomes; each function runs within a transaction of its caller.

An outcome references its blobs as a run does (`held_blobs`), under a name that no run has. So a blob is
deleted with the last run or outcome that references it, also where an earlier release deletes.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from dataflow.diagnostics.stores import ENTRY_DAMAGED
from dataflow.errors import StoreError
from dataflow.stores.outcomes import MemoUse, StoredOutcome, StoredParts
from dataflow.stores.statements import read_text, read_time, release_blobs, written_text, written_time

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

__all__ = [
    "add_outcome",
    "clear_outcomes",
    "drop_outcome",
    "find_outcome",
    "has_memo",
    "hold_blobs",
    "is_stale",
    "make_room",
    "memo_use",
    "newest_parts",
    "note_use",
    "prepare_memo",
]

#: The precision of the time of last use: recording it takes a transaction.
GRAIN: Final = timedelta(minutes=1)
#: No UTF-8 string begins with this byte, so a holder that does is not a run.
NO_RUN: Final = b"\xff"

# Repairs a damaged blob that a run references too.
_ADD_BLOB: Final = """
INSERT INTO blobs VALUES (?, ?) ON CONFLICT DO UPDATE SET data = excluded.data WHERE data <> excluded.data
"""
_COLUMNS: Final = {
    "type": "TEXT", "parts": "TEXT", "sum": "TEXT", "created": "TEXT", "used": "TEXT", "expires": "TEXT",
    "size": "INTEGER",
}  # fmt: skip
_INDEXES: Final = (
    "CREATE INDEX IF NOT EXISTS memo_used ON memo (used, size)",
    "CREATE INDEX IF NOT EXISTS memo_types ON memo (type, created)",
)


def has_memo(connection: sqlite3.Connection) -> bool:
    """Return whether the table has all columns: earlier releases of version 1 created two of them."""
    there = {row[1] for row in connection.execute("PRAGMA table_info(memo)")}
    return _COLUMNS.keys() <= there


def prepare_memo(connection: sqlite3.Connection) -> None:
    """Add the missing columns to the empty table of an earlier release."""
    there = {row[1] for row in connection.execute("PRAGMA table_info(memo)")}
    for name, kind in _COLUMNS.items():
        if name not in there:
            connection.execute(f"ALTER TABLE memo ADD COLUMN {name} {kind}")
    for index in _INDEXES:
        connection.execute(index)


def find_outcome(key: str, connection: sqlite3.Connection, store: str) -> StoredOutcome | None:
    """Return an outcome; raises StoreError if it is damaged."""
    if not has_memo(connection):
        return None
    row = connection.execute(
        "SELECT type, parts, data, sum, created, expires FROM memo WHERE fingerprint = ?", (key,)
    ).fetchone()
    if row is None:
        return None
    kind, parts, data, total, created, expires = row
    if _sum(key, read_text(data)) != total:
        raise StoreError(store, ENTRY_DAMAGED(what="outcome", name=key, why="its checksum differs"))
    return StoredOutcome(
        key,
        read_text(kind),
        read_text(parts),
        read_text(data),
        read_time(created),
        None if expires is None else read_time(expires),
        _blobs_of(key, connection, store),
    )


def is_stale(key: str, now: datetime, connection: sqlite3.Connection) -> bool:
    """Return whether the time of last use of an outcome must be updated."""
    (used,) = connection.execute("SELECT used FROM memo WHERE fingerprint = ?", (key,)).fetchone()
    return now - read_time(used) >= GRAIN


def note_use(key: str, now: datetime, connection: sqlite3.Connection) -> None:
    """Record that an outcome was used."""
    connection.execute("UPDATE memo SET used = ? WHERE fingerprint = ?", (written_time(now), key))


def hold_blobs(key: str, run: str, connection: sqlite3.Connection) -> None:
    """Let a run reference the blobs of an outcome too."""
    connection.execute(
        "INSERT OR IGNORE INTO held_blobs SELECT ?, sha256 FROM held_blobs WHERE run = ?",
        (written_text(run), _holder(key)),
    )


def add_outcome(
    outcome: StoredOutcome, blobs: Mapping[str, bytes], size: int, connection: sqlite3.Connection
) -> None:
    """Write an outcome under a key that has none."""
    holder, created = _holder(outcome.key), written_time(outcome.created)
    connection.executemany(_ADD_BLOB, blobs.items())
    connection.executemany("INSERT INTO held_blobs VALUES (?, ?)", [(holder, name) for name in outcome.blobs])
    connection.execute(
        "INSERT INTO memo (fingerprint, data, type, parts, sum, created, used, expires, size) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            outcome.key, written_text(outcome.data), written_text(outcome.type), written_text(outcome.parts),
            _sum(outcome.key, outcome.data), created, created,
            None if outcome.expires is None else written_time(outcome.expires), size,
        ),
    )  # fmt: skip


def make_room(most: int, now: datetime, connection: sqlite3.Connection) -> None:
    """Evict outcomes until the rest takes `most` bytes: expired ones, then the least recently used."""
    (size,) = connection.execute("SELECT ifnull(sum(size), 0) FROM memo").fetchone()
    if size <= most:
        return
    rows = connection.execute(
        "SELECT fingerprint, size FROM memo ORDER BY ifnull(expires, '9') > ?, used, rowid",
        (written_time(now),),
    ).fetchall()
    for key, its_size in rows:
        if size <= most:
            return
        drop_outcome(key, connection)
        size -= its_size


def drop_outcome(key: str, connection: sqlite3.Connection) -> None:
    """Delete an outcome with the blobs that only it references."""
    release_blobs([_holder(key)], connection)
    connection.execute("DELETE FROM memo WHERE fingerprint = ?", (key,))


def newest_parts(node_type: str, most: int, connection: sqlite3.Connection) -> list[StoredParts]:
    """List the parts of the cache keys of some outcomes of a node type, the newest first."""
    rows = connection.execute(
        "SELECT fingerprint, parts, created FROM memo WHERE type = ? "
        "ORDER BY created DESC, rowid DESC LIMIT ?",
        (written_text(node_type), most),
    )
    return [StoredParts(key, read_text(parts), read_time(created)) for key, parts, created in rows]


def memo_use(connection: sqlite3.Connection) -> list[MemoUse]:
    """List the size of the cached outcomes of each node type."""
    rows = connection.execute(
        "SELECT type, count(*), sum(size), max(created) FROM memo GROUP BY type ORDER BY type"
    )
    return [MemoUse(read_text(kind), count, size, read_time(newest)) for kind, count, size, newest in rows]


def clear_outcomes(node_type: str | None, before: datetime | None, connection: sqlite3.Connection) -> int:
    """Delete the outcomes of a node type, or of all, that were stored before a time, or at any time."""
    rows = connection.execute(
        "SELECT fingerprint FROM memo "
        "WHERE (:type IS NULL OR type = :type) AND (:before IS NULL OR created < :before)",
        {
            "type": None if node_type is None else written_text(node_type),
            "before": None if before is None else written_time(before),
        },
    ).fetchall()
    for (key,) in rows:
        drop_outcome(key, connection)
    return len(rows)


def _blobs_of(key: str, connection: sqlite3.Connection, store: str) -> Sequence[str]:
    rows = connection.execute(
        "SELECT held.sha256, blobs.sha256 FROM held_blobs AS held LEFT JOIN blobs USING (sha256) "
        "WHERE run = ? ORDER BY held.sha256",
        (_holder(key),),
    ).fetchall()
    if any(there is None for _, there in rows):
        raise StoreError(store, ENTRY_DAMAGED(what="outcome", name=key, why="one of its blobs is missing"))
    return [sha256 for sha256, _ in rows]


def _holder(key: str) -> bytes:
    return NO_RUN + key.encode()


def _sum(key: str, data: str) -> str:
    """Return the checksum of an outcome under its key."""
    return hashlib.sha256(f"{key} {data}".encode("utf-8", "surrogatepass")).hexdigest()
