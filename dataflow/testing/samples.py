"""Runs, records and blobs for the tests of stores."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dataflow.stores import Answer, Batch, Record, StoredRun

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["answer_to", "batch_of", "blob_of", "new_run", "record", "refused"]


def new_run(id: str = "run", *, status: str = "running", day: int = 1) -> StoredRun:
    """Return a run that was begun at 12:30 UTC on a day of January 2026."""
    created = datetime(2026, 1, day, 12, 30, 0, 250, tzinfo=UTC)
    return StoredRun(
        id, flow="greet", target="greet.py:flow", status=status, created=created, updated=created
    )


def record(seq: int, kind: str = "node_started", path: str = "a") -> Record:
    """Return a record whose data contains its sequence number."""
    return Record(seq, kind, path, f'{{"number":{seq}}}')


def batch_of(*seqs: int) -> Batch:
    """Return a batch of records with these sequence numbers, and nothing else."""
    return Batch([record(seq) for seq in seqs])


def blob_of(data: bytes) -> dict[str, bytes]:
    """Return a blob by its name, the SHA-256 of its bytes."""
    return {hashlib.sha256(data).hexdigest(): data}


def answer_to(ask: str = "a") -> Answer:
    """Return the answer of a person to an ask."""
    return Answer(ask, '{"value":"yes"}', by="Ada")


@contextmanager
def refused(kind: type[Exception], naming: str = "") -> Iterator[None]:
    """Require the block to raise an error of a class, with a message that contains `naming`."""
    message = None
    try:
        yield
    except kind as error:
        message = str(error)
    assert message is not None, f"expected {kind.__name__}, and nothing was raised"
    assert naming in message, f"expected {naming!r} in: {message}"
