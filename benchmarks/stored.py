"""What durable runs are compared with: SQLite and JSON alone, on the records that a run has left."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.timing import Work
from dataflow.core.events import EventKind
from dataflow.runtime.run import new_run_id
from dataflow.stores.database import SCHEMA
from dataflow.values.reader import Reader

if TYPE_CHECKING:
    from dataflow.stores import Record, Store
    from dataflow.values.classes import Classes

__all__ = ["read_records", "write_records"]

AT_ONCE: Final = 100
_INSERT: Final = "INSERT INTO records (run, seq, kind, path, data) VALUES (?, ?, ?, ?, ?)"

#: A record as it is before it is written: seq, kind, path, and what its data stand for.
Decoded = tuple[int, str, str, Any]


def write_records(records: Sequence[Record], path: Path) -> Work:
    """Write the records of a run into a file of the same tables, safe from a power cut, a hundred at once."""
    decoded = [(record.seq, record.kind, record.path, json.loads(record.data)) for record in records]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(SCHEMA)

    async def run() -> int:
        name = new_run_id()
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=FULL")
            for batch in batches(decoded):
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(_INSERT, rows(name, batch))
                connection.execute("COMMIT")
        return len(decoded)

    return Work(run, len(records), len(records))


def batches(decoded: Sequence[Decoded]) -> Iterator[Sequence[Decoded]]:
    """Cut records into what is written at once."""
    left = iter(decoded)
    while batch := list(islice(left, AT_ONCE)):
        yield batch


def rows(run: str, batch: Sequence[Decoded]) -> Iterator[tuple[str, int, str, str, str]]:
    """Make the rows of records."""
    return ((run, seq, kind, path, json.dumps(data)) for seq, kind, path, data in batch)


def read_records(store: Store, run: str, classes: Classes) -> Work:
    """Read the records of a run, and keep what its nodes gave: no run goes on without these values."""

    async def read() -> int:
        reader = Reader(classes, store.blob, str(store))
        values: dict[str, dict[str, Any]] = {}
        for record in store.records(run):
            told = json.loads(record.data)
            if record.kind == EventKind.NODE_FINISHED:
                ports = told["ports"]
                values[record.path] = {port: reader.read(given["value"]) for port, given in ports.items()}
        return len(values)

    ended = sum(record.kind == EventKind.NODE_FINISHED for record in store.records(run))
    return Work(read, ended, ended)
