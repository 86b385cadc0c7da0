"""The store that lives as long as its object, for tests."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Final

from dataflow.errors import RunTaken, StoreError
from dataflow.stores.memory_outcomes import MemoryOutcomes
from dataflow.stores.store import ASK_ENDED, ASK_KINDS, Answer, Batch, Hold, Record, Store, StoredRun
from dataflow.stores.telling import already_answered, missing_run, right_blob

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["MemoryStore"]

_NAME: Final = "in memory"


@dataclass(slots=True)
class _Entry:
    """A run: what is told of it, its journal by seq, its blobs, its inbox by ask, whether it is owned."""

    run: StoredRun
    records: dict[int, Record] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    inbox: dict[str, Answer] = field(default_factory=dict)
    owned: bool = False

    def told(self) -> StoredRun:
        interrupted = self.run.status == "running" and not self.owned
        return replace(self.run, status="interrupted") if interrupted else self.run

    def journal(self) -> list[Record]:
        return sorted(self.records.values(), key=lambda record: record.seq)

    def takes_no_answer(self, ask: str) -> bool:
        kinds = [record.kind for record in self.journal() if record.path == ask and record.kind in ASK_KINDS]
        return bool(kinds) and kinds[-1] in ASK_ENDED


class _Held:
    """A run that is owned."""

    def __init__(self, entry: _Entry, guard: Lock) -> None:
        self._entry: _Entry | None = entry
        self._guard = guard

    def release(self) -> None:
        with self._guard:
            if self._entry is not None:
                self._entry.owned = False
            self._entry = None


class MemoryStore(Store):
    """Keep runs in this object; no other process sees them."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._entries: dict[str, _Entry] = {}
        self._outcomes = self.outcomes = MemoryOutcomes(self._guard, self._bring)

    def __repr__(self) -> str:
        return "Store.memory()"

    def __str__(self) -> str:
        return _NAME

    def begin(self, run: StoredRun) -> Hold:
        """Note a new run and own it."""
        with self._guard:
            if run.id in self._entries:
                raise StoreError(_NAME, f"has a run {run.id!r} already")
            entry = self._entries[run.id] = _Entry(run)
            return self._own(entry)

    def hold(self, run: str) -> Hold:
        """Own a run that is there; raises RunTaken if somebody has it."""
        with self._guard:
            return self._own(self._entry(run))

    def commit(self, run: str, batch: Batch, *, unless_answered: bool = False) -> Sequence[Answer]:
        """Write a batch, or nothing of it, and return what the inbox holds then."""
        with self._guard:
            entry = self._entry(run)
            inbox = {ask: answer for ask, answer in entry.inbox.items() if ask not in batch.taken}
            if inbox and unless_answered:
                return tuple(inbox.values())
            records = _joined(entry, batch)
            blobs = {**batch.blobs, **entry.blobs}
            entry.inbox, entry.records, entry.blobs = inbox, records, blobs
            status = entry.run.status if batch.status is None else batch.status
            entry.run = replace(entry.run, status=status, updated=datetime.now(UTC))
            return tuple(inbox.values())

    def answer(self, run: str, *answers: Answer) -> None:
        """Put answers in the inbox, or none; raises AnswerRefused if an ask has one or takes none."""
        with self._guard:
            entry = self._entry(run)
            inbox = dict(entry.inbox)
            for answer in answers:
                if answer.ask in inbox or entry.takes_no_answer(answer.ask):
                    raise already_answered(answer.ask)
                inbox[answer.ask] = answer
            entry.inbox = inbox

    def runs(self) -> Sequence[StoredRun]:
        """List all runs, the newest first."""
        with self._guard:
            told = [entry.told() for entry in self._entries.values()]
        return sorted(told, key=lambda run: (run.created, run.id), reverse=True)

    def find(self, run: str) -> StoredRun:
        """Return one run; raises StoreError naming some that there are."""
        with self._guard:
            return self._entry(run).told()

    def inbox(self, run: str) -> Sequence[Answer]:
        """List the answers that the owner of a run has not taken yet."""
        with self._guard:
            return tuple(self._entry(run).inbox.values())

    def records(self, run: str, after: int = 0) -> Iterator[Record]:
        """Read the journal of a run as it is now."""
        with self._guard:
            journal = self._entry(run).journal()
        return iter([record for record in journal if record.seq > after])

    def blob(self, sha256: str) -> bytes:
        """Return a blob; raises StoreError if it is not there or not what its name says."""
        with self._guard:
            found = (entry.blobs[sha256] for entry in self._entries.values() if sha256 in entry.blobs)
            return right_blob(_NAME, sha256, next(found, self._outcomes.blobs.get(sha256)))

    def delete(self, run: str) -> None:
        """Delete a run with all that only it has; raises RunTaken if owned."""
        with self._guard:
            if self._entry(run).owned:
                raise RunTaken(_NAME, run)
            del self._entries[run]

    def _bring(self, run: str, blobs: Mapping[str, bytes]) -> None:
        """Let a run have blobs of an outcome; the caller has the guard."""
        entry = self._entry(run)
        entry.blobs = {**blobs, **entry.blobs}

    def _entry(self, run: str) -> _Entry:
        entry = self._entries.get(run)
        if entry is None:
            raise missing_run(_NAME, run, list(reversed(self._entries)))
        return entry

    def _own(self, entry: _Entry) -> Hold:
        if entry.owned:
            raise RunTaken(_NAME, entry.run.id)
        entry.owned = True
        return _Held(entry, self._guard)


def _joined(entry: _Entry, batch: Batch) -> dict[int, Record]:
    """Return the journal with the records of a batch; raise StoreError if it has one of that number."""
    records = dict(entry.records)
    for record in batch.records:
        if record.seq in records:
            raise StoreError(_NAME, f"run {entry.run.id} has a record {record.seq} already")
        records[record.seq] = record
    return records
