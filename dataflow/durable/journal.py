"""The journal: events are committed to the store before listeners receive them."""

from __future__ import annotations

import json
import threading
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Protocol

from dataflow.base.backend import new_event, wait_through
from dataflow.base.failure import Failure, line_of_error
from dataflow.base.markers import SKIP
from dataflow.base.wording import conceal, shortened
from dataflow.core.events import EventKind
from dataflow.core.states import RunStatus
from dataflow.diagnostics.stores import STORE_FAILED
from dataflow.errors import StoreError, ValueRefused
from dataflow.stores.store import Batch, Record
from dataflow.values.digests import NoDigest, digest
from dataflow.values.refusals import step_into
from dataflow.values.writer import MOST_TEXT, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from dataflow.base.backend import Event as Wakeup
    from dataflow.core.events import Event, Reporter
    from dataflow.stores.store import Answer, Hold, Store
    from dataflow.values.classes import Classes

__all__ = ["Entry", "Journal", "JournalWriter", "first_batch"]

_TEXT: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
_NO_ANSWERS: Final[Sequence[Answer]] = ()
#: How many records one commit has at most.
MOST_AT_ONCE: Final = 1_000
#: Events that are reported in order but not stored.
PASSING: Final = frozenset({EventKind.PIECE, EventKind.PIECES_VOID})
#: The fields of records that hold values of the flow, encoded by the writer. All others hold facts of the
#: engine, whose texts and paths are written unencoded, so that they are read without blobs and secrets.
VALUES: Final = frozenset(
    {
        "configs",
        "default",
        "forked",
        "given",
        "inputs",
        "keys",
        "metadata",
        "reads",
        "schema",
        "shape",
        "show",
        "value",
        "values",
    }
)
#: Events that remove an answer from the pending answers.
TAKING: Final = frozenset({EventKind.ASK_ANSWERED, EventKind.ASK_CLOSED})


@dataclass(slots=True, eq=False)
class Entry:
    """A record to be written; `data` is the encoded data of its event."""

    seq: int
    kind: str
    path: str
    data: Mapping[str, Any]
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    status: str | None = None  # of the run from this record on
    taken: Sequence[str] = ()  # asks whose answers this record takes from the pending answers


class JournalWriter:
    """Writes reported events to the journal, and passes them to listeners once they are committed."""

    def __init__(self, reporter: Reporter, journal: Journal, classes: Classes) -> None:
        self.journal = journal
        self.reported: ReportedBefore | None = None  # what was reported before the run was resumed
        self.arrived: Collection[str] = ()  # asks whose answers were pending when the run was resumed
        # called if a fact that cannot be rejected cannot be written
        self.on_refused: Callable[[ValueRefused], None] | None = None
        self._reporter = reporter
        self._blobs: dict[str, bytes] = {}  # of the next record
        self._writer = Writer(classes, self._blobs.__setitem__)
        # to be passed to listeners; None: a port has settled without an event
        self._pending: deque[Event | None] = deque()
        self._committed = 0
        self._is_broken = False  # something could not be written: nothing more is written
        self._prepared: dict[str, Any] = {}  # encoded output values of the node that ends next
        self._held: list[tuple[EventKind, str, Mapping[str, Any]]] | None = None

    def prepare(self, node: str, outputs: Mapping[str, Any]) -> None:
        """Encode the outputs of a node before anything reads them; raises ValueRefused (S12.3)."""
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
        """Use outputs of a node that are encoded already, with blobs that the store has."""
        self._prepared = dict(written)

    def check(self, value: object, place: str) -> None:
        """Raise ValueRefused for a value that cannot be written."""
        self._writer.write(value, place)

    def digest(self, value: object) -> str | None:
        """Return the content hash of a value as hexadecimal digits, None if it has none."""
        try:
            return digest(value).hex()
        except NoDigest:
            return None

    def began(self, data: Mapping[str, Any], time: datetime) -> None:
        """Report that the run has started; the store has added the run with this record."""
        event = self._reporter.make(EventKind.RUN_STARTED, "", data)
        self._committed = event.seq
        self._later(event._replace(time=time))

    def begin_again(self, reported: ReportedBefore) -> None:
        """Hold back events that were not reported before, until `go_on`."""
        self.reported, self._held = reported, []

    def go_on(
        self, data: Mapping[str, Any], interrupted: Iterable[tuple[str, Mapping[str, Any]]] = ()
    ) -> None:
        """Report that the run is resumed, the interrupted attempts, and then the held events."""
        held, self._held = self._held or [], None
        self.emit(EventKind.RUN_RESUMED, "", data)
        for path, more in interrupted:
            self.emit(EventKind.ATTEMPT_FAILED, path, more)
        for kind, path, more in held:
            self.emit(kind, path, more)

    def emit(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> None:
        """Record one fact, unless the journal has it already."""
        if self.reported is not None and self.reported.has(kind, path, data):
            return
        if self._held is not None:
            self._held.append((kind, path, data))
            return
        event = self._reporter.make(kind, path, data)
        if kind not in PASSING:
            entry = self._entry(event, data)
            if entry is not None:
                self.journal.put(entry)
        self._later(event)

    def _entry(self, event: Event, data: Mapping[str, Any]) -> Entry | None:
        """Build the record of an event; None, now and for all later events, if it cannot be written."""
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
        prepared: Mapping[str, Any] = {}
        if kind is EventKind.NODE_FINISHED:
            prepared, self._prepared = self._prepared, {}
        if kind is EventKind.NODE_STARTED and "inputs" in data:
            try:
                return _record_data(self._writer, data, place)
            except ValueRefused:  # inputs are reported only to listeners that request them
                data = {name: value for name, value in data.items() if name != "inputs"}
        return _record_data(self._writer, data, place, prepared)

    def _later(self, event: Event | None) -> None:
        if self._reporter.has_listeners:
            self._pending.append(event)
            self._report()

    def settled(self) -> None:
        """Report that a port has settled, once all earlier events are committed."""
        self._later(None)

    @property
    def is_behind(self) -> bool:
        """Whether events wait for their commit."""
        return bool(self._pending)

    def committed(self, seq: int) -> None:
        """Report the events up to a committed record."""
        self._committed = seq
        self._report()

    def _report(self) -> None:
        pending = self._pending
        while pending:
            event = pending[0]
            if event is not None and event.kind not in PASSING and event.seq > self._committed:
                return
            pending.popleft()
            self._reporter.give(event)

    async def pause(self, data: Mapping[str, Any]) -> Sequence[Answer]:
        """Record that the run has paused, unless there are answers: then nothing is reported (S11.2)."""
        event = self._reporter.make(EventKind.RUN_PAUSED, "", data)
        entry = self._entry(event, data)
        assert entry is not None, "names and numbers can be written"
        answers = await self.journal.pause(entry)
        if answers:
            self._reporter.seq -= 1
        else:
            self._later(event)
            self.committed(event.seq)
        return answers


def _record_data(
    writer: Writer, data: Mapping[str, Any], place: str, prepared: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """Encode the data of an event as a JSON object; `prepared` has encoded values of ports."""
    written: dict[str, Any] = {}
    for name, found in data.items():
        if name in VALUES:
            written[name] = writer.write(found, f"{place}{step_into(name)}")
        elif name == "ports":
            written[name] = {
                _escaped(port): {"value": prepared[port]}
                if port in prepared and "value" in token
                else _token(writer, token, f"{place}{step_into(name)}{step_into(port)}")
                for port, token in found.items()
            }
        elif name == "reason":  # all that is cancelled with a failure has its message as the reason
            written[name] = shortened(found, MOST_TEXT)
        else:
            written[name] = _fact(writer, found, place)
    return written


def _token(writer: Writer, token: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Encode the token of a port: a value, the reason of a skip, or a failure."""
    return {
        kind: writer.write(found, f"{place}{step_into(kind)}")
        if kind in VALUES
        else _fact(writer, found, place)
        for kind, found in token.items()
    }


def _fact(writer: Writer, fact: Any, place: str) -> Any:
    """Return a fact as JSON: texts, also those that are keys, with secrets masked, and failures."""
    if isinstance(fact, str):
        return conceal(str(fact))
    if isinstance(fact, list):
        return [_fact(writer, one, place) for one in fact]
    if isinstance(fact, dict):
        return {conceal(key): _fact(writer, one, place) for key, one in fact.items()}
    written = writer.write(fact, place)
    if isinstance(fact, Failure):  # its message may be a blob; its path is read without blobs
        written["v"].update(node=conceal(fact.node), path=conceal(fact.path))
    return written


def _escaped(port: str) -> str:
    return f"${port}" if port.startswith("$") else port


def first_batch(classes: Classes, data: Mapping[str, Any], time: datetime) -> Batch:
    """Encode the record that a run has started, with which it is stored; raises ValueRefused."""
    blobs: dict[str, bytes] = {}
    written = _record_data(Writer(classes, blobs.__setitem__), data, "run_started of the run")
    written["time"] = time.isoformat()
    return _batch([Entry(1, EventKind.RUN_STARTED.value, "", written, blobs)])


class ReportedBefore(Protocol):
    """The events that the journal of a resumed run holds already."""

    def has(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> bool:
        """Return whether a fact was reported in an earlier execution session."""


class Journal:
    """Writes the records of one run, in order, in a separate thread.

    `call` runs a function in the event loop of the run. An error of the store ends the writing, and is
    reported once.
    """

    def __init__(
        self, store: Store, run: str, hold: Hold, call: Callable[[Callable[[], object]], None]
    ) -> None:
        self._store = store
        self._run = run
        self._hold = hold
        self._call = call
        self._items: SimpleQueue[Entry | _Pause | _End] = SimpleQueue()
        self._put = 0  # number of items added
        self._done = 0  # number of items written, or given up
        self._waiting: list[tuple[int, Wakeup]] = []
        self._error: StoreError | None = None
        self._has_ended = False
        self._on_commit: Callable[[int, Sequence[Answer]], None] | None = None
        self._on_error: Callable[[StoreError], None] | None = None
        threading.Thread(target=self._work, daemon=True, name=f"dataflow journal {run}").start()

    def attend(
        self, on_commit: Callable[[int, Sequence[Answer]], None], on_error: Callable[[StoreError], None]
    ) -> None:
        """Register callbacks in the event loop: for commits (newest seq, pending answers) and an error."""
        self._on_commit, self._on_error = on_commit, on_error

    def put(self, entry: Entry) -> None:
        """Add a record, without waiting; ignored after `close`."""
        if not self._has_ended:
            self._add(entry)

    async def committed(self) -> None:
        """Wait until all records added so far are committed; raises StoreError if they cannot be."""
        if (done := self._reaching(self._put)) is not None:
            await done.wait()
        self._check()

    async def pause(self, entry: Entry) -> Sequence[Answer]:
        """Record that the run has paused, unless there are pending answers: then return these (S11.2).

        It is decided even if the task is cancelled meanwhile.
        """
        pause = _Pause(entry)
        if not self._has_ended:  # else the run was released meanwhile, and the thread has ended
            self._add(pause)
        await self._through(self._put)
        return pause.answers

    async def close(self) -> None:
        """Write the remaining records and release the run, even if the task is cancelled meanwhile.

        Raises StoreError if that failed.
        """
        if not self._has_ended:
            self._has_ended = True
            self._add(_End())
        await self._through(self._put)

    def _add(self, item: Entry | _Pause | _End) -> None:
        self._put += 1
        self._items.put(item)

    async def _through(self, count: int) -> None:
        if (done := self._reaching(count)) is not None:
            await wait_through(done)
        self._check()

    def _reaching(self, count: int) -> Wakeup | None:
        """Return an event that is set when so many items are written; None if they are."""
        if self._done >= count:
            return None
        done = new_event()
        self._waiting.append((count, done))
        return done

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        """Write items until the end; the body of the thread."""
        last: Entry | _Pause | _End | None = None
        while not isinstance(last, _End):
            entries, last = self._next()
            written = self._write(entries, last)
            self._call(partial(self._report_write, written))

    def _next(self) -> tuple[list[Entry], _Pause | _End | None]:
        """Wait for the next records; return them, and the item that ends them if it is not a record."""
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
        except BaseException as error:  # noqa: BLE001 - a store is foreign code; every error is reported
            self._error = _store_error(self._store, error)
        if isinstance(last, _End):
            self._release()
        return _Written(count, seq, answers, self._error)

    def _release(self) -> None:
        try:
            self._hold.release()
        except BaseException as error:  # noqa: BLE001 - as above
            self._error = self._error or _store_error(self._store, error)

    def _report_write(self, written: _Written) -> None:
        """Report a write, in the event loop."""
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


def _store_error(store: Store, error: BaseException) -> StoreError:
    if isinstance(error, StoreError):
        return error
    wrapped = StoreError(str(store), STORE_FAILED(error=line_of_error(error)))
    wrapped.__cause__ = error
    return wrapped


def _batch(entries: Sequence[Entry]) -> Batch:
    """Combine entries into one commit."""
    blobs: dict[str, bytes] = {}
    taken: list[str] = []
    status = None
    for entry in entries:
        blobs.update(entry.blobs)
        taken.extend(entry.taken)
        status = entry.status or status
    records = [Record(entry.seq, entry.kind, entry.path, _TEXT(entry.data)) for entry in entries]
    return Batch(records, blobs, status, taken)


@dataclass(slots=True, eq=False)
class _Pause:
    """A record that the run has paused, written only if there are no pending answers."""

    entry: Entry
    answers: Sequence[Answer] = ()


class _End:
    """The end of writing: the run is released."""


@dataclass(frozen=True, slots=True)
class _Written:
    """The result of writing some items."""

    count: int
    seq: int = 0  # the newest committed record, 0 if nothing new was committed
    answers: Sequence[Answer] = ()  # the pending answers
    error: StoreError | None = None
