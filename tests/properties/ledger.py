"""A store that keeps one run by records, and a reader that holds each record against those before it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any, Final

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


OPENERS: Final = ("loop", "map", "flow")
#: States that a firing leaves when the run is resumed, if nothing has handled the failure.
LEFT: Final = ("failed", "timed_out", "cancelled", "not_run")


def _is_cancelling(kind: str, data: Mapping[str, Any]) -> bool:
    """Tell whether a record may follow the pause of a run that was cancelled as it paused."""
    return kind in ("ask_closed", "loop_exited") or (kind == "node_finished" and data["state"] in LEFT)


@dataclass
class Diary:
    """Reads records, and holds each against those before it."""

    seq: int = 0
    status: str = ""
    sittings: int = 0
    states: dict[str, str] = field(default_factory=dict)  # of firings that have ended, by path
    done: set[str] = field(default_factory=set)
    openers: set[str] = field(default_factory=set)
    running: dict[str, int] = field(default_factory=dict)  # the sitting in which a call has begun
    attempts: dict[str, int] = field(default_factory=dict)  # that have begun
    earlier: dict[str, int] = field(default_factory=dict)  # of them, those that count no more
    asks: dict[str, str] = field(default_factory=dict)  # open, answered or closed
    rounds: dict[str, int] = field(default_factory=dict)
    maps: set[str] = field(default_factory=set)
    races: dict[str, str] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)  # in the newest sitting
    ended: dict[str, int] = field(default_factory=dict)  # how often the run has ended when a path was told
    failures: bool = False  # something has failed when the run paused or ended, and nothing handled it
    ends: int = 0  # how often the run has failed or was cancelled
    is_fork: bool = False  # it begins with what another run has settled, in however many sittings

    @classmethod
    def of(cls, records: Iterable[Record]) -> Diary:
        diary = cls()
        for record in records:
            diary.read(record)
        return diary

    @property
    def failed(self) -> set[str]:
        return {path for path, state in self.states.items() if state in ("failed", "timed_out")}

    @property
    def open(self) -> list[str]:
        return [id for id, state in self.asks.items() if state == "open"]

    def counted(self) -> dict[str, int]:
        """Tell how many attempts count no more if the process has died now."""
        return {**self.earlier, **{path: self.attempts[path] for path in self.running}}

    def read(self, record: Record) -> None:
        """Take the next record; fails if it may not come here."""
        data = json.loads(record.data)
        assert record.seq == self.seq + 1
        self.seq = record.seq
        where = (record.seq, record.kind, record.path)
        if record.path == "":
            self._of_run(record.kind, data, where)
        elif hasattr(self, f"_{record.kind}"):
            assert self.status == "running" or (
                self.status == "paused" and _is_cancelling(record.kind, data)
            ), where
            getattr(self, f"_{record.kind}")(record.path, data, where)

    def _of_run(self, kind: str, data: Mapping[str, Any], where: Any) -> None:
        match kind:
            case "run_started":
                assert self.seq == 1, where
                self.status, self.sittings, self.is_fork = "running", 1, "forked" in data
            case "run_resumed":
                assert self.status != "completed", where
                self.forgotten = set(data.get("forgotten", ()))
                assert not self.forgotten or self.ends or self.status != "running" or self.failed, where
                self.done -= self.forgotten
                if self.forgotten:  # a skip that came of it is told anew if it is another end now
                    self.ended = dict.fromkeys(self.ended, self.ends - 1)
                self.status, self.sittings, self.failures = "running", self.sittings + 1, False
                for path in self.forgotten:
                    self.states.pop(path, None)
                    self.rounds.pop(path, None)
                    self.maps.discard(path)
                    self.asks.pop(path, None)
            case "run_paused":
                assert self.status == "running", where
                assert sorted(data["asks"]) == sorted(self.open), where
                self.status, self.failures = "paused", "failures" in data
                assert not self.running, where
            case "run_finished":
                assert self.status == "running" or data["status"] == "cancelled", where
                self.status = data["status"]
                self.failures = "failures" in data
                self.ends += self.status != "completed"
                assert not self.running, where
                assert not self.open, where

    def _node_started(self, path: str, data: Mapping[str, Any], where: Any) -> None:
        assert path not in self.done, where
        assert path not in self.running, where
        is_first = path not in self.attempts and self.is_fork  # it may have been another before
        assert data["attempt"] == self.attempts.get(path, 0) + 1 or is_first, where
        self.attempts[path] = data["attempt"]
        if data["type"] in OPENERS:
            self.openers.add(path)
        else:
            self.running[path] = self.sittings
            assert path not in self.open, where

    def _attempt_failed(self, path: str, data: Mapping[str, Any], where: Any) -> None:
        begun = self.running.pop(path, None)
        assert data["attempt"] == self.attempts[path], where
        if data["delay"] is None:
            assert begun is not None, where
            assert begun < self.sittings or self.is_fork, where
            self.earlier[path] = data["attempt"]

    def _node_finished(self, path: str, data: Mapping[str, Any], where: Any) -> None:
        self.running.pop(path, None)
        before = self.states.get(path)
        is_withdrawn = before == "skipped" and data.get("reason", "").startswith("race lost")
        assert before in (None, *LEFT) or is_withdrawn or self.ends > self.ended[path], (*where, before)
        assert before != "done", where
        self.states[path] = data["state"]
        self.ended[path] = self.ends
        self.earlier[path] = self.attempts.get(path, 0)
        if data["state"] == "done":
            self.done.add(path)

    def _ask_opened(self, path: str, _data: Mapping[str, Any], where: Any) -> None:
        assert self.asks.get(path) in (None, "closed"), where
        self.running.pop(path, None)
        self.asks[path] = "open"

    def _ask_answered(self, path: str, _data: Mapping[str, Any], where: Any) -> None:
        assert self.asks.get(path) == "open", where
        self.asks[path] = "answered"

    def _ask_closed(self, path: str, _data: Mapping[str, Any], where: Any) -> None:
        assert self.asks.get(path) == "open", where
        self.asks[path] = "closed"

    def _loop_round(self, path: str, data: Mapping[str, Any], where: Any) -> None:
        assert data["round"] == self.rounds.get(path, 0), where
        self.rounds[path] = data["round"] + 1

    def _map_opened(self, path: str, _data: Mapping[str, Any], where: Any) -> None:
        assert path not in self.maps, where
        self.maps.add(path)

    def _race_decided(self, path: str, data: Mapping[str, Any], where: Any) -> None:
        assert path not in self.races, where
        self.races[path] = data["edge"]
