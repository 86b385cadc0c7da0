"""The journal of a run being executed: what is reported is written first, by a thread of its own (S12.2)."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.backend import new_event
from dataflow.base.failure import text_of_error
from dataflow.errors import StoreError
from dataflow.stores.store import Batch, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dataflow.base.backend import Event as Wakeup
    from dataflow.stores.store import Answer, Hold, Store

__all__ = ["Entry", "Journal"]

_TEXT: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
_NO_ANSWERS: Final[Sequence[Answer]] = ()
#: How many records are committed at once at most.
MOST_AT_ONCE: Final = 1_000


@dataclass(slots=True, eq=False)
class Entry:
    """A record to be written. `data` is what the codec made of the data of its event."""

    seq: int
    kind: str
    path: str
    data: Mapping[str, Any]
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    status: str | None = None  # of the run from here on
    taken: Sequence[str] = ()  # asks whose answers have left the inbox with it


@dataclass(slots=True, eq=False)
class _Pause:
    """The record that the run has paused, to be written unless the inbox holds an answer."""

    entry: Entry
    answers: Sequence[Answer] = ()


class _End:
    """The run is given up."""


@dataclass(frozen=True, slots=True)
class _Written:
    """What became of some items."""

    count: int
    seq: int = 0  # up to which all is committed, 0 if nothing new is
    answers: Sequence[Answer] = ()  # what the inbox holds
    error: StoreError | None = None


class Journal:
    """Writes the records of one run, in order, while the run goes on.

    `call` calls back in the event loop of the run. What the store raises ends the writing, and is told once.
    """

    def __init__(
        self, store: Store, run: str, hold: Hold, call: Callable[[Callable[[], object]], None]
    ) -> None:
        self._store = store
        self._run = run
        self._hold = hold
        self._call = call
        self._items: SimpleQueue[Entry | _Pause | _End] = SimpleQueue()
        self._put = 0  # how many items were put in
        self._done = 0  # how many of them are written, or will not be
        self._waiting: list[tuple[int, Wakeup]] = []
        self._error: StoreError | None = None
        self._has_ended = False
        self._on_commit: Callable[[int, Sequence[Answer]], None] | None = None
        self._on_error: Callable[[StoreError], None] | None = None
        threading.Thread(target=self._work, daemon=True, name=f"dataflow journal {run}").start()

    def attend(
        self, on_commit: Callable[[int, Sequence[Answer]], None], on_error: Callable[[StoreError], None]
    ) -> None:
        """Have it told, in the event loop, up to which seq all is committed and what the inbox holds."""
        self._on_commit, self._on_error = on_commit, on_error

    def put(self, entry: Entry) -> None:
        """Have a record written; never waits. Of a run that is given up nothing more is written."""
        if not self._has_ended:
            self._add(entry)

    async def committed(self) -> None:
        """Wait until all that was put in so far is committed; raises StoreError if it cannot be."""
        await self._until(self._put)

    async def pause(self, entry: Entry) -> Sequence[Answer]:
        """Write that the run has paused, unless the inbox holds answers: these are returned (S11.2)."""
        pause = _Pause(entry)
        if not self._has_ended:  # else the run was given up meanwhile, and nobody writes any more
            self._add(pause)
        await self._until(self._put)
        return pause.answers

    async def close(self) -> None:
        """Write what is left and give the run up; raises StoreError if something could not be written."""
        if not self._has_ended:
            self._has_ended = True
            self._add(_End())
        await self._until(self._put)

    def _add(self, item: Entry | _Pause | _End) -> None:
        self._put += 1
        self._items.put(item)

    async def _until(self, count: int) -> None:
        if self._done < count:
            done = new_event()
            self._waiting.append((count, done))
            await done.wait()
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        """Be the thread that writes."""
        last: Entry | _Pause | _End | None = None
        while not isinstance(last, _End):
            entries, last = self._next()
            written = self._write(entries, last)
            self._call(partial(self._have_written, written))

    def _next(self) -> tuple[list[Entry], _Pause | _End | None]:
        """Wait for what is to be written, and take what there is of it, up to what is written alone."""
        entries: list[Entry] = []
        while len(entries) < MOST_AT_ONCE and not (entries and self._items.empty()):
            item = self._items.get()
            if not isinstance(item, Entry):
                return entries, item
            entries.append(item)
        return entries, None

    def _write(self, entries: Sequence[Entry], last: _Pause | _End | None) -> _Written:
        count, seq, answers = len(entries) + (last is not None), 0, _NO_ANSWERS
        try:
            if self._error is None and entries:
                answers, seq = self._store.commit(self._run, _batch(entries)), entries[-1].seq
            if self._error is None and isinstance(last, _Pause):
                last.answers = self._store.commit(self._run, _batch([last.entry]), unless_answered=True)
        except BaseException as error:  # noqa: BLE001 - a store is somebody's code; whatever it is, it is told
            self._error = _told(self._store, error)
        if isinstance(last, _End):
            self._give_up()
        return _Written(count, seq, answers, self._error)

    def _give_up(self) -> None:
        try:
            self._hold.release()
        except BaseException as error:  # noqa: BLE001 - as above
            self._error = self._error or _told(self._store, error)

    def _have_written(self, written: _Written) -> None:
        """Tell, in the event loop, what was written."""
        if written.error is not None:
            on_error, self._on_error = self._on_error, None
            if on_error is not None:
                on_error(written.error)
        if written.seq and self._on_commit is not None:
            self._on_commit(written.seq, written.answers)
        self._done += written.count
        waiting, self._waiting = self._waiting, []
        for count, done in waiting:
            if count <= self._done:
                done.set()
            else:
                self._waiting.append((count, done))


def _told(store: Store, error: BaseException) -> StoreError:
    if isinstance(error, StoreError):
        return error
    told = StoreError(str(store), f"{type(error).__name__}: {text_of_error(error)}")
    told.__cause__ = error
    return told


def _batch(entries: Sequence[Entry]) -> Batch:
    """Make of entries what is committed at once."""
    blobs: dict[str, bytes] = {}
    taken: list[str] = []
    status = None
    for entry in entries:
        blobs.update(entry.blobs)
        taken.extend(entry.taken)
        status = entry.status or status
    records = [Record(entry.seq, entry.kind, entry.path, _TEXT(entry.data)) for entry in entries]
    return Batch(records, blobs, status, taken)
