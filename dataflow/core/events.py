"""Events: what a run reports, in order, and the reporter that passes them to listeners (S19)."""

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
from dataflow.base.wording import LONGEST_PROBLEM, short_repr, shortened
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
    """The kinds of events; their names are stable."""

    RUN_STARTED = "run_started"
    RUN_PAUSED = "run_paused"
    RUN_RESUMED = "run_resumed"
    RUN_FINISHED = "run_finished"
    NODE_STARTED = "node_started"
    ATTEMPT_FAILED = "attempt_failed"
    NODE_FINISHED = "node_finished"
    BRANCH_EVALUATED = "branch_evaluated"
    LOOP_ROUND = "loop_round"
    LOOP_TESTED = "loop_tested"
    LOOP_EXITED = "loop_exited"
    MAP_OPENED = "map_opened"
    ASK_OPENED = "ask_opened"
    ASK_ANSWERED = "ask_answered"
    ASK_CLOSED = "ask_closed"
    RACE_DECIDED = "race_decided"
    CONTEXTS_MERGED = "contexts_merged"
    TIMER_SET = "timer_set"
    MEMO_HIT = "memo_hit"
    MEMO_MISSED = "memo_missed"
    MEMO_SKIPPED = "memo_skipped"
    WARNING = "warning"
    PIECE = "piece"
    PIECES_VOID = "pieces_void"


class Event(NamedTuple):
    """One thing that happened. `seq` counts from 1; `time` is UTC; `path` names the node, "" the run itself.

    `run` is the id of the run; the content of `data` depends on the kind.
    """

    seq: int
    time: datetime
    run: str
    kind: EventKind
    path: str
    data: Mapping[str, Any]

    def __repr__(self) -> str:
        """Return the fields, with large values in the data shortened and secrets masked."""
        data = ", ".join(f"{key!r}: {short_repr(value)}" for key, value in self.data.items())
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields[:-1])
        return shortened(f"Event({fields}, data={{{data}}})", LONGEST_PROBLEM)


class Listener(Protocol):
    """Receives the events of a run. Its methods must be quick, as the run waits for them."""

    def put(self, event: Event) -> None: ...
    def settled(self) -> None:
        """Handle that a port has settled without an event."""

    def close(self) -> None:
        """Handle that the run has ended."""


class Recorder(Protocol):
    """Stores each event, and passes it to the listeners once it is stored."""

    def emit(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> None:
        """Store one event."""

    def settled(self) -> None:
        """Handle that a port has settled without an event."""

    @property
    def is_behind(self) -> bool:
        """Whether events have yet to be stored and passed to the listeners."""


class Reporter:
    """Passes the events of one run to its listeners. Without listeners no event is created."""

    __slots__ = (
        "_call",
        "_has_ended",
        "_listeners",
        "_redact",
        "_thread",
        "includes_inputs",
        "is_listening",
        "is_tracing",
        "now",
        "recorder",
        "run",
        "seq",
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
        self.includes_inputs = False  # events include the inputs of nodes
        self.run = run
        self._thread = get_ident()
        self._call = call  # calls back in the run's event loop, from any thread
        self.recorder: Recorder | None = None  # stores events before listeners get them
        self.now = clock  # the time of the day, in UTC
        self.seq = seq  # of the last event; continues when a run is resumed
        self._has_ended = False
        self._redact: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None  # secrets (S12.4)
        self._listeners: Sequence[ReferenceType[Listener]] = ()  # a stream that is no longer referenced ends

    def listen(self) -> Stream[Event]:
        """Return a stream of the events from now on; it is empty if the run has ended."""
        stream: Stream[Event] = Stream()
        self.add_listener(stream)
        return stream

    def add_listener(self, listener: Listener) -> None:
        """Add a listener; if the run has ended it is only closed."""
        if self._has_ended:
            listener.close()
            return
        if self._redact is None:
            from dataflow.secrets.known import redacted  # most runs have no listener

            self._redact = redacted
        self._listeners = (*self._listeners, ref(listener, self._forget))
        self.is_listening = True

    def _forget(self, gone: ReferenceType[Listener]) -> None:
        self._listeners = tuple(one for one in self._listeners if one is not gone)
        self.is_listening = self.has_listeners or self.recorder is not None

    @property
    def has_listeners(self) -> bool:
        """Whether there is a listener other than the recorder."""
        return bool(self._listeners)

    @property
    def is_behind(self) -> bool:
        """Whether events have yet to be stored and passed to the listeners."""
        return self.recorder is not None and self.recorder.is_behind

    def record(self, recorder: Recorder) -> None:
        """Let a recorder store every event."""
        self.recorder, self.is_listening = recorder, True

    def _listening(self) -> Iterator[Listener]:
        for reference in self._listeners:
            if (listener := reference()) is not None:
                yield listener

    def emit(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> None:
        """Report an event. Call it only while `is_listening`."""
        if self.recorder is not None:
            self.recorder.emit(kind, path, data)
            return
        self.seq += 1
        if self._redact is not None:
            data = self._redact(data)
        fields = (self.seq, self.now(), self.run, kind, path, data)
        event = tuple.__new__(Event, fields)  # three times as fast as `Event(...)`
        for reference in self._listeners:
            if (listener := reference()) is not None:
                listener.put(event)

    def make(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> Event:
        """Return the next event, which is passed to the listeners later."""
        self.seq += 1
        if self._redact is not None:
            data = self._redact(data)
        return Event(self.seq, self.now(), self.run, kind, path, data)

    def give(self, event: Event | None) -> None:
        """Pass an event to the listeners; None means that a port has settled without an event."""
        for listener in self._listening():
            listener.settled() if event is None else listener.put(event)

    def settled(self) -> None:
        """Report that a port has settled without an event, such as that of a join."""
        if self.recorder is not None:
            self.recorder.settled()
        else:
            self.give(None)

    #: Opens a span inside that of the calling node.
    open_span = staticmethod(no_span)

    def flow_span(self, frame: Frame) -> Span:  # noqa: ARG002 - there are no spans
        """Return the span of the subflow node around a frame, or of the run."""
        return NO_SPAN

    def enter(self, frame: Frame, index: int, context: Context) -> None:
        """Start the span of a call in the context of its firing. Call it only while `is_tracing`."""

    def ended(self, status: RunStatus) -> None:
        """Handle the final status of an execution session, before it is closed."""

    def in_loop(self, callback: Callable[[], object]) -> None:
        """Call back in the thread of the run: immediately from that thread, else through its event loop."""
        if self._call is None or get_ident() == self._thread:
            callback()
        else:
            self._call(callback)

    def later(self, callback: Callable[[], object]) -> None:
        """Schedule a callback in the event loop of the run; may be called from any thread."""
        if self._call is not None:
            self._call(callback)

    @property
    def is_here(self) -> bool:
        """Whether the caller is in the thread of the run."""
        return get_ident() == self._thread

    def close(self) -> None:
        """Close every listener: the run has ended."""
        self.is_listening = False
        self._has_ended = True
        for listener in self._listening():
            listener.close()


class Stream(Generic[T]):
    """An async iterator over the items put into it; unbounded, so that a slow reader never blocks the run."""

    __slots__ = ("__weakref__", "_arrives", "_items", "has_ended")

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self._arrives: Wakeup | None = None  # set when an item arrives, for waiting readers
        self.has_ended = False

    def put(self, item: T) -> None:
        self._items.append(item)
        if self._arrives is not None:
            self._wake()

    def settled(self) -> None:
        """Do nothing: only events are streamed."""

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
            await checkpoint_if_cancelled()  # asyncio delivers no cancellation where items always arrive
            if self._arrives is None:
                self._arrives = new_event()
            await self._arrives.wait()
        return items.popleft()
