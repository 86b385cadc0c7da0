"""A run in progress, and how a run is executed and becomes a result (S9.5, S9.6)."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from os import urandom
from time import gmtime
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from dataflow.base.copies import separate
from dataflow.base.wording import choices
from dataflow.compiler.addresses import Addresses, let_go, name_of
from dataflow.core.states import LET_GO, UNSETTLED, RunStatus, is_dead
from dataflow.errors import DataflowError, RunFailed
from dataflow.runtime.engine import Engine
from dataflow.runtime.pieces import PieceStream
from dataflow.runtime.result import PausedRun, Result
from dataflow.runtime.task_blocks import owning_tasks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping

    from dataflow.core.events import Event
    from dataflow.runtime.sleepers import Spawn
    from dataflow.runtime.starting import Start
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Prepare", "Prepared", "Run", "executing", "new_run_id"]

T = TypeVar("T")


def new_run_id() -> str:
    """Name a run by its start in UTC and eight hexadecimal digits (S20)."""
    year, month, day, hour, minute, second, *_ = gmtime()
    return f"{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z-{urandom(4).hex()}"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that is ready to be executed."""

    scheduler: Scheduler
    start: Start


#: Prepares a run in the event loop that is to execute it.
Prepare: TypeAlias = "Callable[[], Awaitable[Prepared]]"


class Run:
    """A run in progress. Awaiting it gives its result, also that of a cancelled run, or raises RunFailed."""

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
        """How far the run has come: `running`, `paused`, `completed`, `failed` or `cancelled`."""
        return self._engine.status

    def events(self, *, inputs: bool = False) -> AsyncIterator[Event]:
        """Iterate over the events from now on; ends when the run has ended, however it ended.

        With `inputs` each `node_started` has a copy of the node's input values too, by port, from then on for
        all who listen. Listeners share an event: leave its data as they are.
        """
        reporter = self._engine.reporter
        reporter.tells_inputs = reporter.tells_inputs or inputs
        return reporter.listen()

    @overload
    def stream(self, port: str) -> AsyncIterator[str]: ...
    @overload
    def stream(self, port: list[T]) -> AsyncIterator[T]: ...
    @overload
    def stream(self, port: object) -> AsyncIterator[Any]: ...
    def stream(self, port: object) -> AsyncIterator[Any]:
        """Iterate over the pieces of a port as they come, or over its value if there are none (S3.5).

        The port is a port or step of the builder, text like `node.port`, or the name of an output. It ends
        when the port has settled; after a skip or an error with nothing more. Open it first thing to miss
        no piece. Raises DataflowError for a port that is not there, or inside a map or a loop.
        """
        addresses = Addresses(self._engine.plan)
        found = addresses.output(port) or addresses.port(port)
        if found.slot is None:
            ports = () if found.node is None else found.node.outputs
            raise DataflowError(f"port {name_of(port)} gives no pieces; {choices(ports)}")
        if self._engine.scheduler.root.values[found.slot] is LET_GO:
            raise let_go(port)
        stream = PieceStream(self._engine.scheduler.root, found.slot, found, self._engine.reporter)
        self._engine.reporter.tell(stream)
        return stream

    async def answer(self, answers: Mapping[str, object]) -> None:
        """Answer open asks by their ids while the run is executed; raises AnswerRefused (S11.2).

        If one of the answers is refused none of them counts. A run that has paused is resumed with them.
        """
        await self._engine.answer(answers)

    def cancel(self, reason: str = "cancelled") -> None:
        """Cancel the run: what waits is not run, what runs is cancelled (S9.6). Any thread may call it.

        The reason is what `result.why` tells of the nodes. A run that has ended, or is failing, stays so.
        """
        self._engine.reporter.in_loop(partial(self._engine.cancel, reason))

    def __await__(self) -> Generator[Any, Any, Result]:
        return self._wait().__await__()

    async def _wait(self) -> Result:
        await self._engine.ended.wait()
        self._was_awaited = True
        return outcome(self._engine)

    def raise_unseen(self) -> None:
        """Raise the failure of a run that nobody awaited, so that it is not lost."""
        if self._engine.status is RunStatus.FAILED and not self._was_awaited:
            outcome(self._engine)


def outcome(engine: Engine) -> Result:
    """Return the result of a sitting that has ended; raises RunFailed for a failed run (S9.5)."""
    if engine.keeping is not None and engine.keeping.broken is not None:
        raise engine.keeping.broken
    scheduler = engine.scheduler
    is_paused = engine.status is RunStatus.PAUSED
    result = Result(
        engine.reporter.run,
        engine.status.value,  # type: ignore[arg-type]  # an ended run is not "running"
        _outputs(engine),
        tuple(scheduler.warnings),
        scheduler.asking.asks if is_paused else (),
        _plan=engine.plan,
        _root=scheduler.root,
        _earlier={} if scheduler.restoring is None else scheduler.restoring.inner_states,
        _paused=PausedRun(scheduler) if is_paused and engine.keeping is None else None,
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
        name: separate(token)
        for name, token in tokens.items()
        if not is_dead(token) and token is not UNSETTLED
    }


@asynccontextmanager
async def executing(prepare: Prepare) -> AsyncIterator[Run]:
    """Execute what is prepared while the block runs; leaving the block waits for the run to end.

    The block owns one task group with every task of the run. An error in the block cancels the run, and
    a failure of the run that nobody awaited is raised when the block is left.
    """
    prepared = await prepare()

    def begin(spawn: Spawn) -> Engine:
        engine = Engine(prepared.scheduler, prepared.start, spawn)
        engine.begin()
        return engine

    async with owning_tasks(begin) as engine:
        run = Run(engine)
        yield run
    run.raise_unseen()
