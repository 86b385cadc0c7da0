"""`Run`: a run in progress, its event stream, and its streamed pieces."""

from __future__ import annotations

from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from os import urandom
from pkgutil import resolve_name
from time import gmtime, strftime, time
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from dataflow.base.copies import own_copy
from dataflow.base.tracebacks import USER_FRAMES, UserBlock
from dataflow.base.wording import conceal
from dataflow.compiler.addresses import Addresses, address_of, name_of, released_error
from dataflow.compiler.plan import Call, LoopOf
from dataflow.core.events import EventKind, Stream
from dataflow.core.signature import Shape
from dataflow.core.states import RELEASED, UNSETTLED, RunStatus, is_dead, value_of
from dataflow.diagnostics.runs import PORT_NOT_STREAMED
from dataflow.errors import DataflowError, RunFailed
from dataflow.runtime.engine import Engine
from dataflow.runtime.result import Earlier, PausedRun, Result
from dataflow.runtime.tasks import owning_tasks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
    from contextlib import AbstractAsyncContextManager, AbstractContextManager

    from dataflow.compiler.addresses import RootPort
    from dataflow.compiler.plan import PlanNode
    from dataflow.core.events import Event, Reporter
    from dataflow.runtime.start import RunStart
    from dataflow.runtime.tasks import Spawn
    from dataflow.scheduler.frames import Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["PreparedRun", "Run", "executing", "new_run_id", "outcome"]

T = TypeVar("T")


def new_run_id() -> str:
    """Return a new run id: the time in UTC and eight hexadecimal digits (S20)."""
    return f"{_in_utc(int(time()))}-{urandom(4).hex()}"


@lru_cache(maxsize=1)
def _in_utc(seconds: int) -> str:
    return strftime("%Y%m%dT%H%M%SZ", gmtime(seconds))


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A run that is ready to be executed."""

    scheduler: Scheduler
    start: RunStart


#: Prepares a run in the event loop that is to execute it.
Prepare: TypeAlias = "Callable[[], Awaitable[PreparedRun]]"


class Run:
    """A run in progress. Awaiting it returns its result, also for a cancelled run, or raises RunFailed."""

    __slots__ = ("_engine", "_was_awaited")

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._was_awaited = False

    @property
    def id(self) -> str:
        """The id of the run: its start in UTC and eight hexadecimal digits."""
        return self._engine.reporter.run

    @property
    def status(self) -> RunStatus:
        """The status of the run: `running`, `paused`, `completed`, `failed` or `cancelled`."""
        return self._engine.status

    def events(self, *, inputs: bool = False) -> AsyncIterator[Event]:
        """Iterate over the events from now on, until the run has ended.

        With `inputs` each `node_started` also has a copy of the node's input values by port, from then on for
        all listeners. Listeners share an event: do not change its data.
        """
        reporter = self._engine.reporter
        reporter.includes_inputs = reporter.includes_inputs or inputs
        return reporter.listen()

    @overload
    def stream(self, port: str) -> AsyncIterator[str]: ...
    @overload
    def stream(self, port: list[T]) -> AsyncIterator[T]: ...
    @overload
    def stream(self, port: object) -> AsyncIterator[Any]: ...
    def stream(self, port: object) -> AsyncIterator[Any]:
        """Iterate over the pieces of a port as they arrive, or over its value if there are none.

        The port is a port or step of the builder, a string like `node.port`, or the name of an output. The
        iterator ends when the port has settled; after a skip or an error without a further item. Open it
        before the run does anything to miss no piece. Raises DataflowError for an unknown port, or one inside
        a map or a loop.
        """
        addresses = Addresses(self._engine.plan)
        found = addresses.output(port) or addresses.port(port)
        if found.slot is None:
            ports = () if found.node is None else found.node.outputs
            raise DataflowError(PORT_NOT_STREAMED(f"port {name_of(port)}", available=ports))
        if self._engine.scheduler.root.values[found.slot] is RELEASED:
            raise released_error(port)
        stream = PieceStream(self._engine.scheduler.root, found.slot, found, self._engine.reporter)
        self._engine.reporter.add_listener(stream)
        return stream

    async def answer(self, answers: Mapping[str, object]) -> None:
        """Answer open asks by their ids while the run is executed; raises AnswerRefused.

        In a run with a store the answers are committed when this returns. If one answer is refused, none of
        them is applied. Resume a paused run with its answers instead.
        """
        await self._engine.answer(answers)

    # Any: type checkers would report each call that is not awaited
    def cancel(self, reason: str = "cancelled") -> Any:
        """Cancel the run: waiting nodes do not run, running ones are cancelled. Any thread may call it.

        This returns before anything has ended. `await run.cancel()`, in the event loop of the run, returns
        once the run has ended, and in a run with a store once that is committed; it raises StoreError if that
        failed. `result.why` reports the reason for each node. A run that has ended, or is failing, keeps its
        status.
        """
        self._engine.reporter.in_loop(partial(self._engine.cancel, reason))
        return Ending(self._engine)

    def __await__(self) -> Generator[Any, Any, Result]:
        return self._wait().__await__()

    async def _wait(self) -> Result:
        await self._engine.ended.wait()
        self._was_awaited = True
        with USER_FRAMES:
            return outcome(self._engine)

    def raise_unseen(self) -> None:
        """Raise the failure of a run that was not awaited, so that it is not lost."""
        if self._engine.status is RunStatus.FAILED and not self._was_awaited:
            outcome(self._engine)


class Ending:
    """The end of a run that was cancelled. It need not be awaited."""

    __slots__ = ("_engine",)

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __await__(self) -> Generator[Any, Any, None]:
        return self._wait().__await__()

    async def _wait(self) -> None:
        await self._engine.ended.wait()
        _raise_unwritten(self._engine)


def _raise_unwritten(engine: Engine) -> None:
    """Raise the error that has kept the end of a run from being written."""
    if engine.stored_end is not None and engine.stored_end.broken is not None:
        raise engine.stored_end.broken


def outcome(engine: Engine) -> Result:
    """Return the result of an execution session that has ended; raises RunFailed for a failed run (S9.5)."""
    _raise_unwritten(engine)
    scheduler = engine.scheduler
    is_paused = engine.status is RunStatus.PAUSED
    result = Result(
        engine.reporter.run,
        engine.status.value,  # type: ignore[arg-type]  # an ended run is not "running"
        _outputs(engine),
        tuple(map(conceal, scheduler.warnings)),
        scheduler.asking.asks if is_paused else (),
        _plan=engine.plan,
        _root=scheduler.root,
        _earlier=Earlier() if scheduler.replay is None else scheduler.replay.earlier,
        _paused=PausedRun(scheduler) if is_paused and engine.stored_end is None else None,
    )
    if engine.status is not RunStatus.FAILED:
        return result
    unhandled = [one for one in sorted(engine.scheduler.root.failures) if one.error is not None]
    errors = [one.error for one in unhandled if one.error is not None]
    raise RunFailed(result, [one.failure for one in unhandled]) from _cause(errors)


def _cause(errors: list[BaseException]) -> BaseException:
    if len(errors) == 1:
        return errors[0]
    return BaseExceptionGroup("several nodes failed", errors)


def _outputs(engine: Engine) -> Mapping[str, Any]:
    values = engine.scheduler.root.values
    tokens = {name: values[slot] for name, slot in engine.plan.outputs.items()}
    return {
        name: own_copy(token)
        for name, token in tokens.items()
        if not is_dead(token) and token is not UNSETTLED
    }


def executing(prepare: Prepare) -> AbstractAsyncContextManager[Run]:
    """Execute a prepared run while the block runs; leaving the block waits for the run to end.

    The block owns one task group with every task of the run. An error in the block cancels the run, and a
    failure of the run that was not awaited is raised when the block is left.
    """
    return UserBlock(_executing(prepare))


@asynccontextmanager
async def _executing(prepare: Prepare) -> AsyncIterator[Run]:
    prepared = await prepare()
    progress: AbstractContextManager[None] = nullcontext()
    if prepared.scheduler.settings.progress:
        # by name: the command line, which shows progress, is above the engine, and slow to load
        progress = resolve_name("dataflow.cli.progress:shown")(prepared.scheduler)

    def begin(spawn: Spawn) -> Engine:
        engine = Engine(prepared.scheduler, prepared.start, spawn)
        engine.begin()
        return engine

    with progress:
        async with owning_tasks(begin) as engine:
            run = Run(engine)
            yield run
    run.raise_unseen()


class PieceStream:
    """An async iterator over the pieces of a port of the root, as they arrive.

    It listens to the events of the run, and checks the port after each: when the port has settled the stream
    ends, with the value if there was no piece. While events wait to be reported, they may include pieces of a
    port that has settled already.
    """

    __slots__ = (
        "__weakref__", "_has_pieces", "_is_inside", "_is_list", "_path", "_pieces", "_port", "_reporter",
        "_root", "_slot",
    )  # fmt: skip

    def __init__(self, root: Frame, slot: int, port: RootPort, reporter: Reporter) -> None:
        node = port.node
        self._reporter = reporter
        self._pieces: Stream[Any] = Stream()
        self._has_pieces = False
        self._root = root
        self._slot = slot
        self._port = port.port
        self._path = None if node is None else root.path_of(node)
        self._is_inside = False  # of a loop made by feedback edges: its path differs in each iteration
        while node is not None and (inside := _inside(node, slot)) is not None:
            self._is_inside = True
            node, self._port, slot = inside
            if not node.names_frame:
                self._path = f"{self._path}/{node.label}"
        self._is_list = (  # its value is the list of its pieces
            node is not None and isinstance(node.action, Call) and node.action.type.shape is Shape.PIECES
        )
        self.settled()

    def put(self, event: Event) -> None:
        """Read an event that may be about the port."""
        path = address_of(event.path) if self._is_inside and event.path is not None else event.path
        if path == self._path:
            if event.kind is EventKind.PIECES_VOID:  # later pieces are of another attempt
                self._has_pieces = False
            elif event.kind is EventKind.PIECE and event.data["port"] == self._port:
                self._has_pieces = True
                self._pieces.put(own_copy(event.data["piece"]))
            elif event.kind is EventKind.NODE_FINISHED:
                self._look()
        self.settled()

    def settled(self) -> None:
        """End the stream if the port has settled and all events are reported."""
        if not self._reporter.is_behind:
            self._look()

    def _look(self) -> None:
        token = self._root.values[self._slot]
        if token is UNSETTLED or self._pieces.has_ended:
            return
        if not is_dead(token) and token is not RELEASED and not self._has_pieces:
            value: Any = own_copy(value_of(token))
            for piece in value if self._is_list and isinstance(value, list) else [value]:
                self._pieces.put(piece)
        self._pieces.close()

    def close(self) -> None:
        """End the stream: the run has ended."""
        self._look()
        self._pieces.close()

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        return await anext(self._pieces)


def _inside(node: PlanNode, slot: int) -> tuple[PlanNode, str, int] | None:
    """Return the source of the last value of a feedback loop's output: its node, port and slot."""
    loop = node.action
    if not isinstance(loop, LoopOf) or not loop.feedback or slot in loop.alls:
        return None
    found = loop.results[slot] if slot in loop.results else loop.shown.get(slot)
    outputs = ((maker, port, own) for maker in loop.body.nodes for port, own in maker.outputs.items())
    return next((made for made in outputs if made[2] == found), None)
