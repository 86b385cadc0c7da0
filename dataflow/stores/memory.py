"""A store in memory, for tests and short-lived processes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Final

from dataflow.diagnostics.stores import RECORD_EXISTS, RUN_EXISTS
from dataflow.errors import RunTaken, StoreError
from dataflow.stores.outcomes import MemoUse, OutcomeTable, StoredOutcome, StoredParts
from dataflow.stores.store import (
    ASK_ENDED,
    ASK_KINDS,
    ASK_OPENED,
    NOTHING,
    Answer,
    Batch,
    Hold,
    Record,
    Store,
    StoredRun,
    already_answered,
    checked_blob,
    missing_run,
    refuse_secrets,
    refuse_unfit,
    unknown_ask,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

__all__ = ["MemoryOutcomes", "MemoryStore"]

_NAME: Final = "in memory"


@dataclass(slots=True)
class _Entry:
    """A run: its description, journal by seq, blobs, pending answers by ask, and whether it is owned."""

    run: StoredRun
    records: dict[int, Record] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    inbox: dict[str, Answer] = field(default_factory=dict)
    owned: bool = False

    def listed(self) -> StoredRun:
        interrupted = self.run.status == "running" and not self.owned
        return replace(self.run, status="interrupted") if interrupted else self.run

    def journal(self) -> list[Record]:
        return sorted(self.records.values(), key=lambda record: record.seq)

    def check(self, answer: Answer) -> None:
        """Raise AnswerRefused for an answer that its ask cannot take."""
        asks = {record.path: record for record in self.journal() if record.kind in ASK_KINDS}
        last = asks.get(answer.ask)
        if last is None and self.run.status != "running":
            raise unknown_ask(answer.ask, [ask for ask, one in asks.items() if one.kind == ASK_OPENED])
        if last is not None and last.kind in ASK_ENDED:
            raise already_answered(answer.ask)
        refuse_unfit(answer, "" if last is None else last.data)


class _Held:
    """The ownership of a run."""

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
        self._outcomes = self.outcomes = MemoryOutcomes(self._guard, self._add_blobs)

    def __repr__(self) -> str:
        return "Store.memory()"

    def __str__(self) -> str:
        return _NAME

    def begin(self, run: StoredRun, batch: Batch = NOTHING) -> Hold:
        """Add a new run with its first batch, and own it."""
        with self._guard:
            if run.id in self._entries:
                raise StoreError(_NAME, RUN_EXISTS(run=run.id))
            entry = _Entry(run)
            if batch is not NOTHING:
                _write(entry, batch)
            self._entries[run.id] = entry
            return self._own(entry)

    def hold(self, run: str) -> Hold:
        """Own an existing run; raises RunTaken if it is owned."""
        with self._guard:
            return self._own(self._entry(run))

    def commit(self, run: str, batch: Batch, *, unless_answered: bool = False) -> Sequence[Answer]:
        """Write a batch atomically and return the answers that are pending then."""
        with self._guard:
            entry = self._entry(run)
            left = [answer for ask, answer in entry.inbox.items() if ask not in batch.taken]
            if not (left and unless_answered):
                _write(entry, batch)
            return tuple(left)

    def answer(self, run: str, *answers: Answer) -> None:
        """Add pending answers, all or none; raises AnswerRefused for an ask that has one or is closed."""
        refuse_secrets(answers)
        with self._guard:
            entry = self._entry(run)
            inbox = dict(entry.inbox)
            for answer in answers:
                entry.check(answer)
                if answer.ask in inbox:
                    raise already_answered(answer.ask)
                inbox[answer.ask] = answer
            entry.inbox = inbox

    def runs(self) -> Sequence[StoredRun]:
        """List all runs, the newest first."""
        with self._guard:
            found = [entry.listed() for entry in self._entries.values()]
        return sorted(found, key=lambda run: (run.created, run.id), reverse=True)

    def find(self, run: str) -> StoredRun:
        """Return one run; raises StoreError, which lists available runs."""
        with self._guard:
            return self._entry(run).listed()

    def inbox(self, run: str) -> Sequence[Answer]:
        """List the pending answers of a run."""
        with self._guard:
            return tuple(self._entry(run).inbox.values())

    def records(self, run: str, after: int = 0) -> Iterator[Record]:
        """Read the journal of a run as it is now."""
        with self._guard:
            journal = self._entry(run).journal()
        return iter([record for record in journal if record.seq > after])

    def blob(self, sha256: str) -> bytes:
        """Return a blob; raises StoreError if it is missing or damaged."""
        with self._guard:
            found = (entry.blobs[sha256] for entry in self._entries.values() if sha256 in entry.blobs)
            return checked_blob(_NAME, sha256, next(found, self._outcomes.blobs.get(sha256)))

    def delete(self, run: str) -> None:
        """Delete a run and the blobs that only it references; raises RunTaken if it is owned."""
        with self._guard:
            if self._entry(run).owned:
                raise RunTaken(_NAME, run)
            del self._entries[run]

    def _add_blobs(self, run: str, blobs: Mapping[str, bytes]) -> None:
        """Let a run reference blobs of an outcome; the caller holds the guard."""
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


def _write(entry: _Entry, batch: Batch) -> None:
    """Apply a batch; raises StoreError, and then changes nothing."""
    entry.records = _joined(entry, batch)
    entry.blobs = {**batch.blobs, **entry.blobs}
    entry.inbox = {ask: answer for ask, answer in entry.inbox.items() if ask not in batch.taken}
    status = entry.run.status if batch.status is None else batch.status
    entry.run = replace(entry.run, status=status, updated=datetime.now(UTC))


def _joined(entry: _Entry, batch: Batch) -> dict[int, Record]:
    """Return the journal with the records of a batch; raises StoreError for a number that is taken."""
    records = dict(entry.records)
    for record in batch.records:
        if record.seq in records:
            raise StoreError(_NAME, RECORD_EXISTS(f"run {entry.run.id}"))
        records[record.seq] = record
    return records


class MemoryOutcomes(OutcomeTable):
    """Cache any number of outcomes. `add_blobs` lets a run reference blobs, under the guard of its store."""

    def __init__(self, guard: Lock, add_blobs: Callable[[str, Mapping[str, bytes]], None]) -> None:
        self.blobs: dict[str, bytes] = {}
        self._guard = guard
        self._add_blobs = add_blobs
        self._known: dict[str, StoredOutcome] = {}  # by key

    def recall(self, key: str, now: datetime, run: str = "") -> StoredOutcome | None:  # noqa: ARG002 - nothing is evicted
        """Return an outcome, and let a run reference its blobs."""
        with self._guard:
            found = self._known.get(key)
            if found is not None and run:
                self._add_blobs(run, {name: self.blobs[name] for name in found.blobs})
            return found

    def remember(self, outcome: StoredOutcome, blobs: Mapping[str, bytes]) -> bool:
        """Store an outcome, in place of the one under its key."""
        with self._guard:
            self._drop([outcome.key])
            self._known[outcome.key] = outcome
            self.blobs.update(blobs)
            return True

    def newest(self, node_type: str, most: int) -> Sequence[StoredParts]:
        """List the parts of the cache keys of some outcomes of a node type, the newest first."""
        with self._guard:
            found = [one for one in reversed(self._known.values()) if one.type == node_type]
            found.sort(key=lambda one: one.created, reverse=True)
            return [StoredParts(one.key, one.parts, one.created) for one in found[:most]]

    def forget(self, key: str) -> None:
        """Delete one outcome if it exists."""
        with self._guard:
            self._drop([key])

    def use(self) -> Sequence[MemoUse]:
        """List the size of the cached outcomes of each node type."""
        with self._guard:
            by_type: dict[str, list[StoredOutcome]] = {}
            for one in self._known.values():
                by_type.setdefault(one.type, []).append(one)
            return [
                MemoUse(kind, len(ones), sum(map(self._size, ones)), max(one.created for one in ones))
                for kind, ones in sorted(by_type.items())
            ]

    def clear(self, node_type: str | None = None, before: datetime | None = None) -> int:
        """Delete outcomes; returns how many."""
        with self._guard:
            keys = [
                one.key
                for one in self._known.values()
                if node_type in (None, one.type) and (before is None or one.created < before)
            ]
            self._drop(keys)
            return len(keys)

    def _drop(self, keys: Iterable[str]) -> None:
        dropped = [one for key in keys if (one := self._known.pop(key, None)) is not None]
        if not any(one.blobs for one in dropped):
            return
        held = {name for one in self._known.values() for name in one.blobs}
        self.blobs = {name: data for name, data in self.blobs.items() if name in held}

    def _size(self, outcome: StoredOutcome) -> int:
        texts = (outcome.key, outcome.type, outcome.parts, outcome.data)
        return sum(map(len, texts)) + sum(len(self.blobs[name]) for name in outcome.blobs)
