"""Call a node function in its own context, and detect calls that block the event loop."""

from __future__ import annotations

import types
from collections.abc import AsyncGenerator
from contextlib import aclosing, nullcontext
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Protocol

from dataflow.base.copies import own_copy
from dataflow.base.logs import masked_logger
from dataflow.compiler.addresses import address_of
from dataflow.compiler.plan import Call
from dataflow.core.events import EventKind
from dataflow.core.firing import CURRENT, Firing, FiringSource
from dataflow.core.inputs import metadata_without_ask
from dataflow.core.ports import NodeOutput
from dataflow.core.signature import Shape
from dataflow.core.states import CANCELLED, RUNNING, TIMED_OUT
from dataflow.diagnostics.runs import LOOP_BLOCKED, PORT_UNDECLARED, THREAD_ABANDONED
from dataflow.errors import NodeFailed, ValueRefused
from dataflow.scheduler.admission import nothing_kept
from dataflow.scheduler.arguments import bind, check_status, note_secrets_in, refuse_coroutines

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator
    from contextvars import Context

    from dataflow.core.firing import Span
    from dataflow.runtime.attempts import Worker
    from dataflow.scheduler.frames import Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = [
    "MOST_BLOCKING",
    "RETURNED",
    "Attempt",
    "Driver",
    "as_coroutine",
    "call",
    "isolated",
    "look",
    "resumed",
]

LOG: Final = masked_logger("dataflow.calling")
#: Given by a driver when a coroutine has returned.
RETURNED: Final = object()
#: How long, in seconds, one step of a node may block the event loop before a warning (S9.2).
MOST_BLOCKING: Final = 0.1


class Attempt:
    """The source of `this_firing` in the context of an attempt, also after the attempt has ended."""

    __slots__ = ("attempt", "frame", "index", "is_seeking", "worker")

    # no constructor: quick calls set the fields directly, in a third of the instructions
    worker: Worker  # cutting it short ends the attempt
    frame: Frame
    index: int
    attempt: int
    is_seeking: bool  # a cache lookup is running, so the function may not be called

    @classmethod
    def at(cls, worker: Worker, frame: Frame, index: int, attempt: int = 1) -> Attempt:
        """Return the attempt of this number at a firing, made by a worker."""
        made = cls()
        made.worker, made.frame, made.index, made.attempt = worker, frame, index, attempt
        made.is_seeking = False
        return made

    def suspends(self) -> None:
        """Note that the attempt waits, if it does so for the first time."""
        if not self.worker.has_waited:
            self.worker.suspends(self)

    def this_firing(self) -> Firing:
        scheduler = self._scheduler
        return Firing(
            scheduler.reporter.run,
            self._path(),
            self.attempt,
            self.emit,
            self._is_no_longer_wanted,
            scheduler,  # each execution session has one, which ends with it
            scheduler.reporter.open_span,
            self.flow_span,
            self.worker.shared,
            self.warn,
        )

    @property
    def _scheduler(self) -> Scheduler:
        return self.worker.scheduler

    def flow_span(self) -> Span:
        """Return the span of the subflow around this firing."""
        return self._scheduler.reporter.flow_span(self.frame)

    def emit(self, piece: object, port: str) -> None:
        """Report a piece, unless the attempt has ended; raises NodeFailed for a wrong port or piece."""
        node, reporter = self.frame.plan.nodes[self.index], self._scheduler.reporter
        assert isinstance(node.action, Call), "only calls fire"
        ports = node.action.type.outputs
        if port not in ports:
            raise NodeFailed(node.id, PORT_UNDECLARED(f".{port}", port=port, available=ports))
        refuse_coroutines(node.id, {port: piece})
        if reporter.is_listening:
            note_secrets_in(node, node.action, {port: piece}, self._scheduler.unusual)
            reporter.in_loop(partial(self._report, {"port": port, "piece": own_copy(piece)}))

    def warn(self, code: str, text: str) -> None:
        """Warn at this firing, once per run."""
        self._scheduler.reporter.in_loop(partial(self._warn_once, code, text))

    def _warn_once(self, code: str, text: str) -> None:
        self._scheduler.warn_once(text, self._path(), code, text)

    def _report(self, data: dict[str, Any]) -> None:
        frame, index, reporter = self.frame, self.index, self._scheduler.reporter
        if (
            reporter.is_listening
            and frame.states[index] == RUNNING
            and frame.attempt_of(index) == self.attempt
        ):
            frame.attempts_at(index).has_pieces = True
            reporter.emit(EventKind.PIECE, self._path(), data)

    def _is_no_longer_wanted(self) -> bool:
        """Return whether the attempt was cancelled or timed out; safe to call from any thread."""
        frame, index, worker = self.frame, self.index, self.worker
        if frame.has_stopped(index) or frame.attempt_of(index) != self.attempt:
            return True
        if frame.states[index] in (TIMED_OUT, CANCELLED):
            return True
        is_bounded = worker.current is self and worker.is_timed
        return is_bounded and self._scheduler.reporter.is_here and worker.is_cut

    def in_thread(self) -> Thread:
        """Return the source of `this_firing` for a thread of this firing."""
        return Thread(self)

    def abandon(self) -> Callable[[], None]:
        """Warn that a thread keeps running, and return the function to call when it ends (S9.2)."""
        self._scheduler.warn(self._path(), "thread_abandoned", str(THREAD_ABANDONED(self._path())))
        admission = self._scheduler.admission
        return nothing_kept if admission is None else admission.keep((self.frame, self.index))

    def blocked(self, seconds: float) -> None:
        """Warn that one step of the node blocked the event loop, once for all its firings (S9.2)."""
        path = self._path()
        text = str(LOOP_BLOCKED(path, seconds=f"{seconds:.3f}"))
        LOG.warning("%s", text)
        key = "loop_blocked", address_of(path)
        self._scheduler.warn_once(key, path, "loop_blocked", text, seconds=seconds)

    def resumes(self) -> None:
        """Give the node a grace for its clean-up if it resumes because it was cut short, on trio."""
        if self.worker.scope.cancel_called:
            self.worker.take_shelter()

    def _path(self) -> str:
        return self.frame.path_of(self.frame.plan.nodes[self.index])


class Thread:
    """The source of `this_firing` in a thread of a firing, which may be abandoned before the firing ends."""

    __slots__ = ("_firing", "_is_given_up")

    def __init__(self, firing: Attempt) -> None:
        self._firing = firing
        self._is_given_up = False

    def this_firing(self) -> Firing:
        firing = self._firing.this_firing()
        return replace(
            firing,
            _emit=partial(self._emit, firing),
            _is_cancelled=partial(self._is_over, firing),
            _shared=None,  # it belongs to the event loop
        )

    def _emit(self, firing: Firing, piece: object, port: str) -> None:
        if not self._is_given_up:
            firing.emit(piece, port=port)

    def _is_over(self, firing: Firing) -> bool:
        return self._is_given_up or firing.cancelled()

    def in_thread(self) -> Thread:
        """Return the source of `this_firing` for a thread that this one starts."""
        return Thread(self._firing)

    def abandon(self) -> Callable[[], None]:
        """Warn that the thread keeps running, and return the function to call when it ends (S9.2)."""
        self._is_given_up = True
        return self._firing.abandon()


async def call(current: Attempt, action: Call, context: Context) -> Any:
    """Call the function of a firing in its own context."""
    frame = current.frame
    positional, keywords = bind(frame, frame.plan.nodes[current.index], action)
    context.run(CURRENT.set, current)
    if action.bounds is not None:
        _prepare(current, action, context)
    called = context.run(action.type.call, *positional, **keywords)
    if action.type.shape is Shape.PIECES:
        called = _read_pieces(current, called)
    result = await isolated(as_coroutine(called), context, current.suspends, current)
    if action.type.shape is Shape.RAW:
        _record(current, result)
        return check_status(frame.plan.nodes[current.index].id, result)
    return result


def _prepare(current: Attempt, action: Call, context: Context) -> None:
    """Run the `before` hook of an extra attempt; later failures count as failures of the call."""
    bounds = action.bounds
    if current.attempt > 1 and bounds is not None and bounds.retry is not None and bounds.retry.before:
        context.run(bounds.retry.before, current.this_firing())
    current.frame.attempts[current.index].is_last = False


def _record(current: Attempt, result: Any) -> None:
    """Keep a copy of the metadata of a raw node's firing, whatever its status (S3.2); raises ValueRefused."""
    if isinstance(result, NodeOutput):
        is_paused = result.status == "paused"
        metadata: Any = metadata_without_ask(result.metadata) if is_paused else dict(result.metadata)
        metadata = own_copy(metadata) if metadata else metadata
        writer = current.worker.scheduler.journal_writer
        if writer is not None and metadata:
            try:
                writer.check(metadata, f"metadata of {current.frame.plan.nodes[current.index].id}")
            except ValueRefused:
                if result.status != "error":
                    raise
                return  # the error that the node reports matters more
        current.frame.note_metadata(current.index, metadata)


async def _read_pieces(current: Attempt, pieces: AsyncIterator[Any]) -> list[Any]:
    """Read an async-generator node to its end, reporting each piece (S3.5)."""
    found = []
    closing: Any = aclosing(pieces) if isinstance(pieces, AsyncGenerator) else nullcontext()
    async with closing:  # a piece may be refused
        async for piece in pieces:
            found.append(piece)
            current.emit(piece, "out")
    return found


class Watch(FiringSource, Protocol):
    """The firing source in the context of a node, called when it has blocked the event loop.

    On trio it is also called when the node resumes, as what it resumes with may be a cancellation.
    """

    def blocked(self, seconds: float) -> None: ...

    def resumes(self) -> None: ...


async def _awaiting(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def as_coroutine(awaitable: Awaitable[Any]) -> Coroutine[Any, Any, Any]:
    """Return a coroutine for an awaitable: itself, or one that awaits it."""
    return awaitable if isinstance(awaitable, types.CoroutineType) else _awaiting(awaitable)


class Driver:
    """Drives coroutines to their ends, one after the other; one that raises is the last.

    Resuming one generator costs half of what raising StopIteration for each coroutine does. Run in the
    context of a node, `turns.send` takes the firing source and the coroutine; it gives `RETURNED`, or what
    the coroutine yields to the event loop when it waits.
    """

    __slots__ = ("result", "turns")

    def __init__(self) -> None:
        self.result: Any = None  # of the last coroutine, until it is taken
        self.turns = self._in_turn()
        self.turns.send(None)

    @types.coroutine
    def _in_turn(self) -> Generator[Any, Any, Any]:
        source, coroutine = yield
        while True:
            CURRENT.set(source)
            self.result = yield from coroutine
            source = coroutine = None  # no reference to ended firings is kept (S8.5)
            source, coroutine = yield RETURNED

    def take_result(self) -> Any:
        """Return the result of the last coroutine, and drop the reference to it."""
        result, self.result = self.result, None
        return result


async def isolated(
    coroutine: Coroutine[Any, Any, Any], context: Context, suspended: Callable[[], None], watch: Watch
) -> Any:
    """Run a coroutine to its end in the context; `suspended` is called when it first waits.

    `watch.blocked` is called with the seconds of each step that blocked the event loop for too long. Two
    readings of the clock per step measure that exactly and name the node, which a monitoring thread could
    only guess; steps of tasks that the node itself has started are not seen.
    """
    driver, begun = Driver(), perf_counter()
    try:
        signal = context.run(driver.turns.send, (watch, coroutine))
    finally:
        look(watch, begun)
    if signal is RETURNED:
        return driver.take_result()
    suspended()
    return await resumed(driver, context, signal, watch)


@types.coroutine
def resumed(driver: Driver, context: Context, signal: Any, watch: Watch) -> Generator[Any, Any, Any]:
    """Run a waiting coroutine to its end, yielding this signal to the event loop first."""
    while signal is not RETURNED:
        try:
            reply = yield signal  # trio resumes with a value, asyncio with None
        except BaseException as error:  # noqa: BLE001 - whatever is thrown in belongs to the coroutine
            step: Callable[[Any], Any] = driver.turns.throw
            reply = error
        else:
            step = driver.turns.send
            if reply is not None:
                watch.resumes()
        begun = perf_counter()
        try:
            signal = context.run(step, reply)
        finally:
            look(watch, begun)
    return driver.take_result()


def look(watch: Watch, begun: float) -> None:
    """Report a step that has blocked the event loop for too long since it began."""
    seconds = perf_counter() - begun
    if seconds > MOST_BLOCKING:
        watch.blocked(seconds)
