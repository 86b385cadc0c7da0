"""Recording: what a run reports is put in its journal, and told when it is committed (S12.2)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, Protocol

from dataflow.base.markers import SKIP
from dataflow.core.events import EventKind
from dataflow.core.states import RunStatus
from dataflow.durable.journal import Entry
from dataflow.errors import ValueRefused
from dataflow.secrets.known import redacted
from dataflow.values.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from dataflow.core.events import Event, Reporter
    from dataflow.durable.journal import Journal
    from dataflow.stores.store import Answer
    from dataflow.values.classes import Classes

__all__ = ["Recording", "Told"]

#: What is no record: it is told in its turn, and is gone.
PASSING: Final = frozenset({EventKind.PIECE, EventKind.PIECES_VOID})
#: With what an answer leaves the inbox.
TAKING: Final = frozenset({EventKind.ASK_ANSWERED, EventKind.ASK_CLOSED})


class Told(Protocol):
    """What the journal holds already of a run that is being restored."""

    def has(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> bool:
        """Tell whether a fact was reported in an earlier sitting."""


class Recording:
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
