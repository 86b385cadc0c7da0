"""Events: what a run reports, in order, to whoever listens (S19)."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Protocol, TypeVar
from weakref import ref

from anyio.lowlevel import checkpoint_if_cancelled

from dataflow.base.backend import new_event
from dataflow.core.firing import NO_SPAN, no_span

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
    from contextvars import Context
    from weakref import ReferenceType

    from dataflow.base.backend import Event as Wakeup
    from dataflow.core.firing import Span
    from dataflow.core.states import RunStatus
    from dataflow.scheduler.frames import Frame

__all__ = ["Event", "EventKind", "Listener", "Reporter", "Stream"]

T = TypeVar("T")


NOW: Final = partial(datetime.now, UTC)


class EventKind(StrEnum):
    """The kinds of events; their names are stable. What the data of each holds is listed in S19."""

    RUN_STARTED = "run_started"
    RUN_PAUSED = "run_paused"
    RUN_RESUMED = "run_resumed"
    RUN_FINISHED = "run_finished"
    NODE_STARTED = "node_started"
    ATTEMPT_FAILED = "attempt_failed"
    NODE_FINISHED = "node_finished"
    BRANCH_EVALUATED = "branch_evaluated"
    LOOP_ROUND = "loop_round"
    LOOP_EXITED = "loop_exited"
    MAP_OPENED = "map_opened"
    ASK_OPENED = "ask_opened"
    ASK_ANSWERED = "ask_answered"
    ASK_CLOSED = "ask_closed"
    RACE_DECIDED = "race_decided"
    TIMER_SET = "timer_set"
    MEMO_HIT = "memo_hit"
    MEMO_MISSED = "memo_missed"
    MEMO_SKIPPED = "memo_skipped"
    WARNING = "warning"
    PIECE = "piece"
    PIECES_VOID = "pieces_void"


class Event(NamedTuple):
    """One fact. `seq` counts from 1; `time` is UTC; `path` names the node, "" the run itself.

    `run` is the id of the run; what `data` holds depends on the kind (S19).
    """

    seq: int
    time: datetime
    run: str
    kind: EventKind
    path: str
    data: Mapping[str, Any]


class Listener(Protocol):
    """Whoever is told what happens in a run. What it does must be quick, as the run waits for it."""

    def put(self, event: Event) -> None: ...
    def settled(self) -> None:
        """Hear that a port has settled of which no event tells."""

    def close(self) -> None:
        """Hear that the run has ended."""


class Recorder(Protocol):
    """Whoever writes down what is reported, and gives it on when it is written."""

    def emit(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> None:
        """Write down one fact."""

    def settled(self) -> None:
        """Hear that a port has settled of which no event tells."""

    @property
    def is_behind(self) -> bool:
        """Whether something is given on only when it is written."""


class Reporter:
    """Gives the events of one run to its listeners. While nobody listens, nothing is made."""

    __slots__ = (
        "_call",
        "_has_ended",
        "_listeners",
        "_redact",
        "_thread",
        "is_listening",
        "is_tracing",
        "now",
        "recording",
        "run",
        "seq",
        "tells_inputs",
    )

    def __init__(
        self,
        run: str,
        clock: Callable[[], datetime] = NOW,
        call: Callable[[Callable[[], object]], None] | None = None,
        seq: int = 0,
    ) -> None:
        self.is_listening = False
        self.is_tracing = False  # each call has a span (S19)
        self.tells_inputs = False  # somebody wants to know what the nodes are given
        self.run = run
        self._thread = get_ident()
        self._call = call  # calls back in the run's event loop, from any thread
        self.recording: Recorder | None = None  # writes down what is reported before anybody hears of it
        self.now = clock  # the time of the day, in UTC
        self.seq = seq  # of the last event, of a run that goes on in all its sittings
        self._has_ended = False
        self._redact: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None  # secrets (S12.4)
        self._listeners: Sequence[ReferenceType[Listener]] = ()  # a stream that nobody holds is let go

    def listen(self) -> Stream[Event]:
        """Open a stream of the events from now on; of a run that has ended it is empty."""
        stream: Stream[Event] = Stream()
        self.tell(stream)
        return stream

    def tell(self, listener: Listener) -> None:
        """Tell a listener what happens from now on; of a run that has ended, only that it has."""
        if self._has_ended:
            listener.close()
            return
        if self._redact is None:
            from dataflow.secrets.known import redacted  # of most runs nobody hears

            self._redact = redacted
        self._listeners = (*self._listeners, ref(listener, self._forget))
        self.is_listening = True

    def _forget(self, gone: ReferenceType[Listener]) -> None:
        self._listeners = tuple(one for one in self._listeners if one is not gone)
        self.is_listening = self.has_listeners or self.recording is not None

    @property
    def has_listeners(self) -> bool:
        """Whether anybody but the one who writes it down is told."""
        return bool(self._listeners)

    @property
    def is_behind(self) -> bool:
        """Whether something has happened that the listeners are told only when it is written."""
        return self.recording is not None and self.recording.is_behind

    def record(self, recording: Recorder) -> None:
        """Have everything written down that is reported."""
        self.recording, self.is_listening = recording, True

    def _listening(self) -> Iterator[Listener]:
        for reference in self._listeners:
            if (listener := reference()) is not None:
                yield listener

    def emit(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> None:
        """Report one fact. Call it only while `is_listening`."""
        if self.recording is not None:
            self.recording.emit(kind, path, data)
            return
        self.seq += 1
        if self._redact is not None:
            data = self._redact(data)
        fields = (self.seq, self.now(), self.run, kind, path, data)
        event = tuple.__new__(Event, fields)  # what `Event(...)` does in three times the time
        for reference in self._listeners:
            if (listener := reference()) is not None:
                listener.put(event)

    def make(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> Event:
        """Make the next event, which is given to the listeners later."""
        self.seq += 1
        return Event(self.seq, self.now(), self.run, kind, path, data)

    def give(self, event: Event | None) -> None:
        """Give an event to the listeners; None tells that a port has settled of which no event tells."""
        for listener in self._listening():
            listener.settled() if event is None else listener.put(event)

    def settled(self) -> None:
        """Tell that a port has settled of which no event tells, as of a join."""
        if self.recording is not None:
            self.recording.settled()
        else:
            self.give(None)

    #: Opens a span inside the one of the node that asks for it.
    open_span = staticmethod(no_span)

    def flow_span(self, frame: Frame) -> Span:  # noqa: ARG002 - there are no spans
        """Return the span of the flow node around a frame, or of the run."""
        return NO_SPAN

    def enter(self, frame: Frame, index: int, context: Context) -> None:
        """Begin the span of a call in the context of its firing. Call it only while `is_tracing`."""

    def ended(self, status: RunStatus) -> None:
        """Hear how a sitting has ended for good, before it is closed; the span of the run tells it."""

    def in_loop(self, callback: Callable[[], object]) -> None:
        """Call back in the thread of the run: at once if this is it, else as soon as its event loop can."""
        if self._call is None or get_ident() == self._thread:
            callback()
        else:
            self._call(callback)

    def later(self, callback: Callable[[], object]) -> None:
        """Call back as soon as the event loop of the run can; any thread may ask for it."""
        if self._call is not None:
            self._call(callback)

    @property
    def is_here(self) -> bool:
        """Whether the caller is in the thread of the run."""
        return get_ident() == self._thread

    def close(self) -> None:
        """End every stream: the run has ended, however it ended."""
        self.is_listening = False
        self._has_ended = True
        for listener in self._listening():
            listener.close()


class Stream(Generic[T]):
    """An async iterator over what is put in. It keeps what is not read yet, so no reader slows the run."""

    __slots__ = ("__weakref__", "_arrives", "_items", "has_ended")

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self._arrives: Wakeup | None = None  # what readers wait for
        self.has_ended = False

    def put(self, item: T) -> None:
        self._items.append(item)
        if self._arrives is not None:
            self._wake()

    def settled(self) -> None:
        """Leave it: what settles without an event is not told."""

    def close(self) -> None:
        self.has_ended = True
        self._wake()

    def _wake(self) -> None:
        arrives, self._arrives = self._arrives, None
        if arrives is not None:
            arrives.set()

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        items = self._items
        while not items:
            if self.has_ended:
                raise StopAsyncIteration
            await checkpoint_if_cancelled()  # where something always arrives asyncio does not say so
            if self._arrives is None:
                self._arrives = new_event()
            await self._arrives.wait()
        return items.popleft()
