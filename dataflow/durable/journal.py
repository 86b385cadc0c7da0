"""The journal: events are written to the store before listeners receive them."""

from __future__ import annotations

import json
import threading
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Protocol

from dataflow.base.backend import new_event
from dataflow.base.failure import text_of_error
from dataflow.base.markers import SKIP
from dataflow.core.events import EventKind
from dataflow.core.states import RunStatus
from dataflow.errors import StoreError, ValueRefused
from dataflow.secrets.known import redacted
from dataflow.stores.store import Batch, Record
from dataflow.values.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from dataflow.base.backend import Event as Wakeup
    from dataflow.core.events import Event, Reporter
    from dataflow.stores.store import Answer, Hold, Store
    from dataflow.values.classes import Classes


__all__ = ["Entry", "Journal", "JournalWriter", "Told"]

_TEXT: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
_NO_ANSWERS: Final[Sequence[Answer]] = ()
#: How many records are committed at once at most.
MOST_AT_ONCE: Final = 1_000
#: What is no record: it is told in its turn, and is gone.
PASSING: Final = frozenset({EventKind.PIECE, EventKind.PIECES_VOID})
#: With what an answer leaves the inbox.
TAKING: Final = frozenset({EventKind.ASK_ANSWERED, EventKind.ASK_CLOSED})


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


class Told(Protocol):
    """What the journal holds already of a run that is being restored."""

    def has(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> bool:
        """Tell whether a fact was reported in an earlier sitting."""


class JournalWriter:
    """Writes down what a reporter is told, and gives it on when that is committed."""

    def __init__(self, reporter: Reporter, journal: Journal, classes: Classes) -> None:
        self.journal = journal
        self.told: Told | None = None  # what was reported before the run was resumed
        self.arrived: Collection[str] = ()  # asks whose answers were in the inbox when the run was resumed
        self.on_refused: Callable[[ValueRefused], None] | None = None  # of a fact, which nobody can refuse
        self._reporter = reporter
        self._blobs: dict[str, bytes] = {}  # of what is written next
        self._writer = Writer(classes, self._blobs.__setitem__)
        self._pending: deque[Event | None] = deque()  # to be told; None: a port has settled without one
        self._committed = 0
        self._is_broken = False  # something could not be written: nothing is any more
        self._prepared: dict[str, Any] = {}  # what is written already of the ports of the node that ends next
        self._held: list[tuple[EventKind, str, Mapping[str, Any]]] | None = None

    def prepare(self, node: str, outputs: Mapping[str, Any]) -> None:
        """Write what a node gives, before anybody is given it; raises ValueRefused (S12.3)."""
        write = self._writer.write
        self._prepared = {}
        try:
            for port, value in outputs.items():
                if value is not SKIP:
                    self._prepared[port] = write(value, f"{node}.{port}")
        except ValueRefused:
            self._prepared = {}
            raise

    def take_over(self, written: Mapping[str, Any]) -> None:
        """Take what a node gives as it is written already, with blobs that the run has."""
        self._prepared = dict(written)

    def check(self, value: object, place: str) -> None:
        """Raise ValueRefused for a value that cannot be written."""
        self._writer.write(value, place)

    def begin_again(self, told: Told) -> None:
        """Keep what is reported and was not told before, until it is told that the run goes on."""
        self.told, self._held = told, []

    def go_on(
        self, data: Mapping[str, Any], interrupted: Iterable[tuple[str, Mapping[str, Any]]] = ()
    ) -> None:
        """Report that the run is resumed, which attempts had been interrupted, and then what was held."""
        held, self._held = self._held or [], None
        self.emit(EventKind.RUN_RESUMED, "", data)
        for path, more in interrupted:
            self.emit(EventKind.ATTEMPT_FAILED, path, more)
        for kind, path, more in held:
            self.emit(kind, path, more)

    def emit(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> None:
        """Record one fact, unless the journal has it already."""
        if self.told is not None and self.told.has(kind, path, data):
            return
        if self._held is not None:
            self._held.append((kind, path, data))
            return
        event = self._reporter.make(kind, path, redacted(data))
        if kind not in PASSING:
            entry = self._entry(event, data)
            if entry is not None:
                self.journal.put(entry)
        self._later(event)

    def _entry(self, event: Event, data: Mapping[str, Any]) -> Entry | None:
        """Make the record of an event; with what cannot be written the run is broken, and stays as it was."""
        kind = event.kind
        if self._is_broken:
            return None
        try:
            written = self._written(kind, data, f"{kind} of {event.path or 'the run'}")
        except ValueRefused as refused:
            self._is_broken = True
            if self.on_refused is not None:
                self.on_refused(refused)
            return None
        written["time"] = event.time.isoformat()
        blobs = dict(self._blobs)
        self._blobs.clear()
        match kind:
            case EventKind.RUN_RESUMED:
                status: str | None = RunStatus.RUNNING.value
            case EventKind.RUN_PAUSED:
                status = RunStatus.PAUSED.value
            case EventKind.RUN_FINISHED:
                status = data["status"]
            case _:
                status = None
        taken = (event.path,) if kind in TAKING else tuple(data.get("taken", ()))
        return Entry(event.seq, kind.value, event.path, written, blobs, status, taken)

    def _written(self, kind: EventKind, data: Mapping[str, Any], place: str) -> dict[str, Any]:
        if kind is EventKind.NODE_FINISHED and self._prepared:
            return self._end_written(data, place)
        if kind is EventKind.NODE_STARTED and "inputs" in data:
            try:
                return self._object(data, place)
            except ValueRefused:  # the inputs are told only if somebody asks for them
                data = {name: told for name, told in data.items() if name != "inputs"}
        return self._object(data, place)

    def _end_written(self, data: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Write the end of a node of whose ports the values are written already."""
        prepared, self._prepared = self._prepared, {}
        ports = {
            port: {"value": prepared[port]} if port in prepared and "value" in told else told
            for port, told in data["ports"].items()
        }
        kept = {port: told for port, told in ports.items() if port not in prepared}
        rest = self._object({**data, "ports": kept}, place)
        rest["ports"].update({_escaped(port): told for port, told in ports.items() if port in prepared})
        return rest

    def _object(self, data: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Write what has names for keys, which is written as an object."""
        written: dict[str, Any] = self._writer.write(dict(data), place)
        return written

    def _later(self, event: Event | None) -> None:
        if self._reporter.has_listeners:
            self._pending.append(event)
            self._tell()

    def settled(self) -> None:
        """Tell that a port has settled, once what was reported before is committed."""
        self._later(None)

    @property
    def is_behind(self) -> bool:
        """Whether there is something that is told only when it is committed."""
        return bool(self._pending)

    def committed(self, seq: int) -> None:
        """Tell what is committed now."""
        self._committed = seq
        self._tell()

    def _tell(self) -> None:
        pending = self._pending
        while pending:
            event = pending[0]
            if event is not None and event.kind not in PASSING and event.seq > self._committed:
                return
            pending.popleft()
            self._reporter.give(event)

    async def pause(self, data: Mapping[str, Any]) -> Sequence[Answer]:
        """Record that the run has paused, unless there are answers: then nothing was reported (S11.2)."""
        event = self._reporter.make(EventKind.RUN_PAUSED, "", redacted(data))
        entry = self._entry(event, data)
        assert entry is not None, "names and numbers can be written"
        answers = await self.journal.pause(entry)
        if answers:
            self._reporter.seq -= 1
        else:
            self._later(event)
            self.committed(event.seq)
        return answers


def _escaped(port: str) -> str:
    return f"${port}" if port.startswith("$") else port
