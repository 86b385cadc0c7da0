"""A store that can say what it would hold if the process had died after any of its records."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import RLock

from dataflow.errors import StoreError
from dataflow.stores import Answer, Batch, Hold, Record, StoredRun
from dataflow.stores.memory import MemoryStore
from dataflow.stores.store import NOTHING

_STATUSES = {"run_started": "running", "run_resumed": "running", "run_paused": "paused"}
_TAKING = ("ask_answered", "ask_closed")


@dataclass(frozen=True)
class _Written:
    record: Record
    blobs: Mapping[str, bytes] = field(default_factory=dict)


class Ledger(MemoryStore):
    """Keeps one run, and in which order its records and answers came.

    With `full` it has room for so many records; what is written then is lost.
    """

    def __init__(self, full: int | None = None) -> None:
        super().__init__()
        self.full = full
        self.run = ""
        self._noted: StoredRun | None = None
        self._came: list[_Written | Answer] = []
        self._order = RLock()

    def begin(self, run: StoredRun, batch: Batch = NOTHING) -> Hold:
        self._noted, self.run = run, run.id
        self._came += [_Written(record, batch.blobs) for record in batch.records]
        return super().begin(run, batch)

    def commit(self, run: str, batch: Batch, *, unless_answered: bool = False) -> Sequence[Answer]:
        with self._order:
            if self.full is not None and any(record.seq > self.full for record in batch.records):
                self._write([record for record in batch.records if record.seq <= self.full], batch.blobs)
                raise StoreError("the ledger", "is full")
            left = super().commit(run, batch, unless_answered=unless_answered)
            if not (left and unless_answered):
                self._came += [_Written(record, batch.blobs) for record in batch.records]
            return left

    def answer(self, run: str, *answers: Answer) -> None:
        with self._order:
            super().answer(run, *answers)
            self._came += answers

    def journal(self) -> list[Record]:
        return list(self.records(self.run)) if self.run else []

    def kept(self, count: int) -> Ledger:
        """Return what there is of the run if its process has died after so many records."""
        assert self._noted is not None, "the run has begun"
        store = Ledger()
        hold = store.begin(replace(self._noted, status="running"))
        for one in self._came:
            if isinstance(one, Answer):
                store.answer(self.run, one)
            elif one.record.seq > count:
                break
            else:
                store._write([one.record], one.blobs)
        hold.release()
        return store

    def _write(self, records: Sequence[Record], blobs: Mapping[str, bytes]) -> None:
        """Write records one by one, each with what it does to the run and its inbox."""
        for record in records:
            data = json.loads(record.data)
            status = data["status"] if record.kind == "run_finished" else _STATUSES.get(record.kind)
            taken = [record.path] if record.kind in _TAKING else data.get("taken", [])
            super().commit(self.run, Batch([record], blobs, status, taken))
            self._came.append(_Written(record, blobs))
