"""Prepare and start an execution session, from the beginning or from a pause."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from dataflow.base.backend import LoopTime, threadsafe_call
from dataflow.base.copies import own_copy
from dataflow.base.failure import Failure
from dataflow.base.logs import masked_logger
from dataflow.core.events import EventKind, Reporter
from dataflow.core.wiring import node_of_path
from dataflow.diagnostics.runs import MEMO_WITHOUT_STORE, RUN_NOT_KEPT, RUN_OF_OTHER_FLOW, SETTINGS_UNUSED
from dataflow.errors import DataflowError
from dataflow.runtime.run import PreparedRun
from dataflow.scheduler.admission import unused_limits
from dataflow.scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.policy import Settings
    from dataflow.memo.lookup import Memos
    from dataflow.runtime.result import Result
    from dataflow.scheduler.asks import ReadAnswer
    from dataflow.scheduler.frames import FiringId

__all__ = [
    "FirstStart",
    "ResumeWarning",
    "ResumedStart",
    "RunStart",
    "memo_for",
    "prepare_again",
    "prepare_anew",
    "reporter_for",
    "warn_of_memo",
    "warn_of_settings",
]

LOG: Final = masked_logger("dataflow.engine")
#: The failure of an attempt whose process ended.
INTERRUPTED: Final = Failure("", "", 1, "Interrupted", "the process ended while it ran", "")


async def prepare_anew(
    plan: FlowPlan, inputs: dict[str, Any], settings: Settings, run_id: str
) -> PreparedRun:
    """Prepare a new run, which takes the inputs over and empties the dict (S8.5)."""
    reporter = reporter_for(settings, plan.name, run_id, threadsafe_call())
    scheduler = Scheduler(plan, settings, reporter, LoopTime(), memo_for(plan))
    return PreparedRun(scheduler, FirstStart(inputs))


async def prepare_again(plan: FlowPlan, result: Result, answers: Mapping[str, object]) -> PreparedRun:
    """Prepare to resume a paused run that exists in its result.

    Raises RunTaken if it has been resumed already, AnswerRefused for an answer that does not fit; then it
    remains paused.
    """
    paused = result._paused  # noqa: SLF001 - hidden from users, not from the engine
    if paused is None:
        raise DataflowError(RUN_NOT_KEPT(f"run {result.run_id}", status=result.status))
    scheduler = paused.look(result.run_id)
    if scheduler.plan.wiring is not plan.wiring:
        expected, found = f"flow {plan.name!r}", f"flow {scheduler.plan.name!r}"
        raise DataflowError(RUN_OF_OTHER_FLOW(f"run {result.run_id}", expected=expected, found=found))
    read = {id: scheduler.asking.read(id, value, "resume") for id, value in answers.items()}
    paused.take()
    seq = scheduler.reporter.seq
    scheduler.reporter = reporter_for(scheduler.settings, plan.name, result.run_id, threadsafe_call(), seq)
    scheduler.timing.go_on(LoopTime())
    return PreparedRun(scheduler, ResumedStart(read))


class RunStart(Protocol):
    """The start of an execution session."""

    def announce(self, scheduler: Scheduler) -> None:
        """Report the start, before anything else is reported."""

    def ready(self, scheduler: Scheduler) -> list[FiringId]:
        """Return the firings to begin with."""

    def let_go(self) -> None:
        """Release everything that the run was given (S8.5)."""


@dataclass(slots=True, eq=False)
class FirstStart:
    """A new run starts with its inputs; the dict is emptied once the root has them (S8.5)."""

    inputs: dict[str, Any]
    told: Mapping[str, Any] = field(default_factory=dict)  # further data of the record of the start
    written: datetime | None = None  # the time of that record, if the run was stored with it

    def announce(self, scheduler: Scheduler) -> None:
        reporter, writer = scheduler.reporter, scheduler.journal_writer
        if writer is not None and self.written is not None:
            writer.began(self.data(scheduler.plan), self.written)
        elif reporter.is_listening:
            reporter.emit(EventKind.RUN_STARTED, "", self.data(scheduler.plan))
        warn_of_settings(scheduler)

    def data(self, plan: FlowPlan) -> dict[str, Any]:
        """Return the data of the event of the start."""
        return {"flow": plan.name, "inputs": own_copy(dict(self.inputs)), **self.told}

    def ready(self, scheduler: Scheduler) -> list[FiringId]:
        scheduler.timing.bound()
        ready = scheduler.start(self.inputs)
        self.let_go()
        return ready

    def let_go(self) -> None:
        self.inputs.clear()


@dataclass(slots=True, eq=False)
class ResumedStart:
    """A run resumes where it has paused, with validated answers."""

    answers: Mapping[str, ReadAnswer]
    held: list[FiringId] = field(default_factory=list)  # firings that became ready during the replay
    told: Mapping[str, Any] = field(default_factory=dict)  # data of the record of the resume
    warnings: Sequence[ResumeWarning] = ()
    elapsed: float | None = None  # seconds of execution before, if the clock does not know

    def announce(self, scheduler: Scheduler) -> None:
        if scheduler.journal_writer is not None:
            replay = scheduler.replay
            scheduler.journal_writer.go_on(
                self.told, () if replay is None else _interrupted_in(replay.past.firings)
            )
        elif scheduler.reporter.is_listening:
            scheduler.reporter.emit(EventKind.RUN_RESUMED, "", self.told)
        if scheduler.replay is not None:
            scheduler.replay.go_live()
        for code, text, taken in self.warnings:
            scheduler.warn("", code, text, **({"taken": list(taken)} if taken else {}))

    def ready(self, scheduler: Scheduler) -> list[FiringId]:
        if self.elapsed is not None:
            scheduler.timing.bound(self.elapsed)
        newly, self.held = self.held, []
        scheduler.asking.promise(self.answers)
        newly += scheduler.take_step(scheduler.asking.watch_again)
        for id, answer in self.answers.items():
            newly += scheduler.asking.take(id, answer)
        self.let_go()
        return newly

    def let_go(self) -> None:
        self.answers = {}


class ResumeWarning(NamedTuple):
    """A warning for the resumed run; `taken` are asks whose answers are dropped with it."""

    code: str
    text: str
    taken: Sequence[str] = ()


class _EarlierFiring(Protocol):
    """The recorded state of a firing from an earlier execution session."""

    @property
    def is_running(self) -> bool: ...
    @property
    def is_opener(self) -> bool: ...
    @property
    def attempt(self) -> int: ...


def _interrupted_in(firings: Mapping[str, _EarlierFiring]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the attempts that were running when the process ended: the path, and the data of the event."""
    for path, firing in firings.items():
        if firing.is_running and not firing.is_opener:
            failure = INTERRUPTED._replace(node=node_of_path(path), path=path, attempt=firing.attempt)
            yield path, {"attempt": firing.attempt, "error": failure, "delay": None, "interrupted": True}


def memo_for(plan: FlowPlan) -> Callable[[Scheduler], Memos] | None:
    """Return the class that looks up the memo of a plan; None if no node of the plan has one."""
    if not plan.memos:
        return None
    from dataflow.memo.lookup import Memos  # slow to import

    return Memos


def reporter_for(
    settings: Settings,
    flow: str,
    run: str,
    call: Callable[[Callable[[], object]], None],
    seq: int = 0,
    *,
    what: str = "run",
) -> Reporter:
    """Return the reporter of a run with its settings; `seq` is that of the last event."""
    if settings.telemetry is None:
        return Reporter(run, call=call, seq=seq)
    from dataflow.runtime.telemetry import TracedReporter  # few runs are traced

    return TracedReporter(settings.telemetry, what, flow, run, call=call, seq=seq)


def warn_of_settings(scheduler: Scheduler) -> None:
    """Warn of settings of a flow that have no effect in this run or live session."""
    plan, limits = scheduler.plan, scheduler.settings.limits
    unused = plan.unused_policies
    if unused:
        text = str(SETTINGS_UNUSED(f"flow {plan.name!r}", settings=", ".join(unused)))
        LOG.warning("%s", text)
        scheduler.warn("", "without_effect", text)
    warn_of_memo(scheduler)
    if limits:
        for text in unused_limits(plan, limits):
            scheduler.warn("", "unused_limit", text)


def warn_of_memo(scheduler: Scheduler) -> None:
    """Warn if nodes use the cache of a store, and there is none."""
    if scheduler.memos is None or not scheduler.memos.lacks_store:
        return
    what = "run" if scheduler.live is None else "session"
    text = str(MEMO_WITHOUT_STORE(f"flow {scheduler.plan.name!r}", session=what))
    LOG.warning("%s", text)
    scheduler.warn("", "memo_without_store", text)
