"""SQL statements for runs, journals, blobs and asks; each function runs in a transaction of its caller."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from dataflow.diagnostics.stores import RECORD_DAMAGED, RECORD_EXISTS, RUN_EXISTS
from dataflow.errors import StoreError
from dataflow.stores.store import (
    ASK_ENDED,
    Answer,
    Batch,
    Record,
    StoredAsk,
    StoredRun,
    already_answered,
    missing_run,
    refuse_unfit,
    unknown_ask,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "add_answer",
    "add_run",
    "answers_of",
    "delete_runs",
    "find_run",
    "open_asks",
    "page_of",
    "read_blob",
    "read_runs",
    "read_text",
    "read_time",
    "release_blobs",
    "require_run",
    "write_batch",
    "written_text",
    "written_time",
]

_RUN: Final = "SELECT id, flow, target, status, created, updated FROM runs"
# The condition of the index `asks`, so that the query reads one record.
_STATUS: Final = "SELECT status FROM runs WHERE id = ?"
_LAST_OF_ASK: Final = """
SELECT kind, data FROM records
WHERE run = ? AND path = ? AND kind IN ('ask_opened', 'ask_answered', 'ask_closed') ORDER BY seq DESC LIMIT 1
"""
# The same condition for all runs; only the asks of the journals are read.
_OPEN_ASKS: Final = """
SELECT opened.run, opened.path, opened.data, inbox.ask IS NOT NULL
FROM records AS opened JOIN runs ON runs.id = opened.run
LEFT JOIN inbox ON inbox.run = opened.run AND inbox.ask = opened.path
WHERE opened.kind IN ('ask_opened', 'ask_answered', 'ask_closed') AND opened.kind = 'ask_opened'
AND NOT EXISTS (
    SELECT 1 FROM records AS later WHERE later.run = opened.run AND later.path = opened.path
    AND later.kind IN ('ask_opened', 'ask_answered', 'ask_closed') AND later.seq > opened.seq
)
ORDER BY runs.created DESC, runs.id DESC, opened.seq
"""
# As bytes: SQLite itself would not name the record that cannot be decoded.
_PAGE: Final = """
SELECT seq, CAST(kind AS BLOB), CAST(path AS BLOB), CAST(data AS BLOB) FROM records
WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?
"""
_ADD_RECORD: Final = "INSERT INTO records (run, seq, kind, path, data) VALUES (?, ?, ?, ?, ?)"
# Deletes the blobs that only these holders reference.
_DELETE_BLOBS: Final = """
DELETE FROM blobs WHERE sha256 IN (
    SELECT sha256 FROM held_blobs AS held WHERE run IN ({0})
    AND NOT EXISTS (SELECT 1 FROM held_blobs WHERE sha256 = held.sha256 AND run NOT IN ({0}))
)
"""


def add_run(run: StoredRun, connection: sqlite3.Connection, store: str) -> None:
    """Add a new run; raises StoreError if its id exists."""
    if find_run(run.id, connection) is not None:
        raise StoreError(store, RUN_EXISTS(run=run.id))
    values = (
        written_text(run.id),
        written_text(run.flow),
        written_text(run.target),
        run.status,
        written_time(run.created),
        written_time(run.updated),
    )
    connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", values)


def read_runs(connection: sqlite3.Connection) -> list[StoredRun]:
    """List all runs with their stored status, the newest first."""
    return [_run(row) for row in connection.execute(f"{_RUN} ORDER BY created DESC, id DESC")]


def find_run(run: str, connection: sqlite3.Connection) -> StoredRun | None:
    """Return one run with its stored status, or None."""
    row = connection.execute(f"{_RUN} WHERE id = ?", (written_text(run),)).fetchone()
    return None if row is None else _run(row)


def require_run(run: str, connection: sqlite3.Connection, store: str) -> StoredRun:
    """Return one run with its stored status; raises StoreError if it does not exist."""
    found = find_run(run, connection)
    if found is None:
        raise missing_run(store, run, [there.id for there in read_runs(connection)])
    return found


def write_batch(run: str, batch: Batch, connection: sqlite3.Connection, store: str) -> None:
    """Write a batch."""
    name = written_text(run)
    now = written_time(datetime.now(UTC))
    connection.execute(
        "UPDATE runs SET updated = ?, status = ifnull(?, status) WHERE id = ?", (now, batch.status, name)
    )
    connection.executemany("INSERT OR IGNORE INTO blobs VALUES (?, ?)", batch.blobs.items())
    connection.executemany(
        "INSERT OR IGNORE INTO held_blobs VALUES (?, ?)", [(name, sha256) for sha256 in batch.blobs]
    )
    connection.executemany(
        "DELETE FROM inbox WHERE run = ? AND ask = ?", [(name, written_text(ask)) for ask in batch.taken]
    )
    rows = (
        (name, record.seq, record.kind, written_text(record.path), written_text(record.data))
        for record in batch.records
    )
    try:
        connection.executemany(_ADD_RECORD, rows)
    except sqlite3.IntegrityError as error:
        raise StoreError(store, RECORD_EXISTS(f"run {run}")) from error


def page_of(run: str, after: int, size: int, connection: sqlite3.Connection, store: str) -> list[Record]:
    """Read the next `size` records of a journal; raises StoreError for one that is not text."""
    return [_record(row, run, store) for row in connection.execute(_PAGE, (written_text(run), after, size))]


def _record(row: tuple[int, bytes, bytes, bytes], run: str, store: str) -> Record:
    seq, *texts = row
    try:
        return Record(seq, *map(read_text, texts))
    except UnicodeDecodeError as error:
        raise StoreError(store, RECORD_DAMAGED(f"run {run}", seq=seq, error=error)) from error


def read_blob(sha256: str, connection: sqlite3.Connection) -> bytes | None:
    """Return a blob unchecked, or None."""
    row = connection.execute("SELECT data FROM blobs WHERE sha256 = ?", (sha256,)).fetchone()
    return None if row is None else row[0]


def answers_of(run: str, connection: sqlite3.Connection) -> Sequence[Answer]:
    """List the pending answers of a run, the oldest first."""
    rows = connection.execute(
        "SELECT ask, value, by FROM inbox WHERE run = ? ORDER BY place", (written_text(run),)
    )
    return [Answer(read_text(ask), read_text(value), read_text(by)) for ask, value, by in rows]


def open_asks(connection: sqlite3.Connection) -> list[StoredAsk]:
    """List the open asks of all runs, the newest run first."""
    return [
        StoredAsk(read_text(run), read_text(ask), read_text(data), bool(is_answered))
        for run, ask, data, is_answered in connection.execute(_OPEN_ASKS)
    ]


def add_answer(run: str, answer: Answer, connection: sqlite3.Connection) -> None:
    """Add a pending answer; raises AnswerRefused if its ask has one, is closed or cannot take it (S11.2)."""
    place = (written_text(run), written_text(answer.ask))
    last = connection.execute(_LAST_OF_ASK, place).fetchone()
    if last is None and connection.execute(_STATUS, place[:1]).fetchone() != ("running",):
        raise unknown_ask(answer.ask, [ask.id for ask in open_asks(connection) if ask.run == run])
    if last is not None and last[0] in ASK_ENDED:
        raise already_answered(answer.ask)
    refuse_unfit(answer, "" if last is None else read_text(last[1]))
    values = (*place, written_text(answer.value), written_text(answer.by))
    added = connection.execute(
        "INSERT OR IGNORE INTO inbox (run, ask, value, by) VALUES (?, ?, ?, ?)", values
    )
    if not added.rowcount:
        raise already_answered(answer.ask)


def delete_runs(runs: Sequence[str], connection: sqlite3.Connection) -> None:
    """Delete runs, a hundred at most, and the blobs that only they reference."""
    names = [written_text(run) for run in runs]
    release_blobs(names, connection)
    places, values = _named(names)
    for table, column in (("inbox", "run"), ("records", "run"), ("runs", "id")):
        connection.execute(
            f"DELETE FROM {table} WHERE {column} IN ({places})",  # noqa: S608 - only placeholders
            values,
        )


def release_blobs(holders: Sequence[str | bytes], connection: sqlite3.Connection) -> None:
    """Drop all references of some holders, and delete the blobs that only they reference."""
    places, values = _named(holders)
    connection.execute(_DELETE_BLOBS.format(places), values)
    connection.execute(
        f"DELETE FROM held_blobs WHERE run IN ({places})",  # noqa: S608 - only placeholders
        values,
    )


def _named(values: Sequence[str | bytes]) -> tuple[str, dict[str, str | bytes]]:
    """Return placeholders that a statement may use more than once, and the values by their names.

    From Python 3.14 on, numbered ones do not take a sequence.
    """
    named = {f"v{number}": value for number, value in enumerate(values)}
    return ", ".join(f":{name}" for name in named), named


def _run(row: tuple[str | bytes, str | bytes, str | bytes, str, str, str]) -> StoredRun:
    id, flow, target, status, created, updated = row
    created_at, updated_at = read_time(created), read_time(updated)
    return StoredRun(read_text(id), read_text(flow), read_text(target), status, created_at, updated_at)


def written_text(text: str) -> str | bytes:
    """Convert a string for SQLite: to bytes if it has lone surrogates, which SQLite strings cannot have."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def read_text(text: str | bytes) -> str:
    """Return a string that `written_text` has converted."""
    return text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")


def written_time(moment: datetime) -> str:
    """Convert a time to a string; the strings sort as the times."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def read_time(text: str) -> datetime:
    """Return a time that `written_time` has converted."""
    return datetime.fromisoformat(text)
