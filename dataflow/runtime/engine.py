"""The engine: one execution session of a run, in memory or in a store."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from dataflow.base.backend import new_event
from dataflow.base.failure import failure_of
from dataflow.core.events import EventKind
from dataflow.core.states import RunStatus
from dataflow.diagnostics.runs import ASK_CLOSED
from dataflow.errors import AnswerRefused, DataflowError
from dataflow.runtime.workers import Workers
from dataflow.scheduler.frames import Unhandled
from dataflow.scheduler.reports import failure_data, pause_data, unsettled_ports

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.base.backend import Event
    from dataflow.runtime.start import RunStart
    from dataflow.runtime.tasks import Spawn
    from dataflow.scheduler.asks import ReadAnswer
    from dataflow.scheduler.frames import FiringId
    from dataflow.scheduler.scheduler import Scheduler
    from dataflow.stores.store import Answer

__all__ = ["Engine"]


class Engine:
    """Runs the firings of a scheduler, in the task group that `spawn` starts tasks in."""

    def __init__(self, scheduler: Scheduler, start: RunStart, spawn: Spawn) -> None:
        self.plan = scheduler.plan
        self.reporter = scheduler.reporter
        self.scheduler = scheduler
        self.workers = Workers(scheduler, spawn, self.look_around)
        self.status = RunStatus.RUNNING
        self.ended = new_event()
        self.stored_end = None if scheduler.journal_writer is None else StoredEnd(self)
        self.spawn = spawn
        self.cancel_reason: str | None = None
        self._start = start
        self._has_started = False
        # the end of the execution session is decided, though it may not be written yet
        self.has_concluded = False
        self._is_left = False  # the task group has ended
        self._takings: deque[Taking] = deque()  # that are not done

    def begin(self) -> None:
        """Spawn the first worker, which starts the run; nothing has run when this returns."""
        self.workers.begin(self._first)

    def cancel(self, reason: str) -> None:
        """Cancel the run; its tasks end at their next step."""
        if self.has_concluded or self.cancel_reason is not None:
            return
        if not self.scheduler.root.failures:  # a run that is failing already fails
            self.cancel_reason = reason
        # while it is pausing it is cancelled only once that is decided
        if self.stored_end is None or not self.stored_end.is_pausing:
            self._announce()
            self.stop(reason)

    def stop(self, reason: str) -> None:
        """Close the run: waiting nodes do not run, running ones are cancelled."""
        self.scheduler.abort(reason)
        self.workers.act()
        if self.workers.are_idle or self.scheduler.has_ended:
            self._conclude()

    async def answer(self, answers: Mapping[str, object]) -> None:
        """Answer open asks, and wait until that is committed; raises AnswerRefused.

        Then none of the answers was applied, unless one of them, or the run, has closed the ask of another.
        """
        if self.stored_end is not None:
            await self.stored_end.decided()
        if self.has_concluded:
            what = "has paused, so resume it with the answer"
            reason = f"run {self.reporter.run} {what if self.status is RunStatus.PAUSED else 'has ended'}"
            raise AnswerRefused(next(iter(answers), ""), ASK_CLOSED(reason=reason))
        asking = self.scheduler.asking
        taking = self.take({id: asking.read(id, value, "run") for id, value in answers.items()})
        await taking.done.wait()
        if self.stored_end is not None:
            await self.stored_end.journal_writer.journal.committed()
        for id in answers:
            if id not in taking.applied:  # it was closed meanwhile, or the run has ended
                raise AnswerRefused(id, asking.why_refused(id))

    def take(self, answers: Mapping[str, ReadAnswer]) -> Taking:
        """Have a worker fire the nodes that answers make ready; ignore asks closed meanwhile."""
        self.scheduler.asking.promise(answers)
        taking = Taking(answers)
        self._takings.append(taking)
        self.workers.begin(self._apply_next)
        return taking

    def _apply_next(self) -> list[FiringId]:
        """Apply the answers that came first, whichever task of their workers is the first to run."""
        asking, taking = self.scheduler.asking, self._takings.popleft()
        newly: list[FiringId] = []
        try:
            for id, answer in taking.answers.items():
                if id in asking.open:
                    taking.applied.add(id)
                newly += asking.take(id, answer)
        finally:
            taking.done.set()
        return newly

    def leave(self, error: BaseException | None) -> None:
        """Cancel the run if its block is left by an error, else let it run to its end."""
        if error is not None:
            self.cancel(f"the block that owns the run was left by {type(error).__name__}")

    async def close(self) -> None:
        """Record how the run ended, also if its tasks were ended from outside (S9.6)."""
        self._end_from_outside()
        if self.stored_end is not None:
            await self.stored_end.close()

    def _end_from_outside(self) -> None:
        self._is_left = True
        if not self.has_concluded:
            self.cancel("cancelled from outside")
            for frame, index in self.workers.running():
                self.scheduler.settling.cancelled(frame, index)
            while self.scheduler.has_more or self.scheduler.has_items:
                self.scheduler.advance() if self.scheduler.has_more else self.scheduler.begin_items()
            self._conclude()

    def _first(self) -> list[FiringId]:
        if self._has_started and self.scheduler.has_ended:  # cancelled before it began
            return []
        self._announce()
        return self._start.ready(self.scheduler)

    def _announce(self) -> None:
        """Report that the run has started, once."""
        if not self._has_started:
            self._has_started = True
            self._start.announce(self.scheduler)

    def look_around(self) -> None:
        """Conclude or pause when nothing is left to do; unsettled ports are an internal error (S8.4)."""
        scheduler = self.scheduler
        if not scheduler.has_ended and scheduler.asking.open:
            self._pause()
            return
        if not scheduler.has_ended:
            ports = ", ".join(unsettled_ports(scheduler.root))
            error = DataflowError(
                f"internal error: nothing is running and these ports never settled: {ports}"
            )
            scheduler.root.note_failures([Unhandled(0, failure_of(error, "", "", 1), error)])
            scheduler.has_ended = True
        self._conclude()

    def _pause(self) -> None:
        """Pause, unless an answer has arrived meanwhile: nothing else can run (S11.1)."""
        if self.has_concluded or (self.stored_end is not None and self.stored_end.is_pausing):
            return
        self.scheduler.asking.warn_of_unused()
        self.scheduler.timing.stop()
        self.workers.act()
        data = pause_data(self.scheduler)
        if self.stored_end is not None:
            self.stored_end.pause(data)
            return
        if self.reporter.is_listening:
            self.reporter.emit(EventKind.RUN_PAUSED, "", data)
        self.end_paused()

    def note_paused(self) -> None:
        """Note that the run has paused for good: it can no longer be cancelled or answered."""
        self.has_concluded = True

    def end_paused(self) -> None:
        """End the execution session of a run that has paused."""
        self.has_concluded = True
        self.end(RunStatus.PAUSED)

    def _check_time(self) -> None:
        """Fail a run that has ended too late: its code kept the timer from being noticed."""
        scheduler = self.scheduler
        has_failed = bool(scheduler.root.failures) or self.cancel_reason is not None
        if not has_failed and scheduler.timing.is_over:
            scheduler.failing.run_timed_out()

    def _conclude(self) -> None:
        """Decide and report how the run has ended, once (S18)."""
        if self.has_concluded:
            return
        self.has_concluded = True
        self.scheduler.asking.warn_of_unused()
        self.scheduler.let_go()
        self.workers.act()
        self._check_time()
        if self.cancel_reason is not None:
            status = RunStatus.CANCELLED
        elif self.scheduler.root.failures or self.scheduler.interruption is not None:
            status = RunStatus.FAILED
        else:
            status = RunStatus.COMPLETED
        if self.reporter.is_listening:
            data = {"status": status.value, **failure_data(self.scheduler)}
            self.reporter.emit(EventKind.RUN_FINISHED, "", data)
        if self.stored_end is None or self._is_left:
            self.end(status)
        else:
            self.spawn(partial(self.stored_end.end, status))

    def end(self, status: RunStatus) -> None:
        """Close the shared resources and end the execution session, whose records are written by now."""
        if self.workers.shared.are_open and not self._is_left:
            self.spawn(partial(self._end_closed, status))
        else:
            self._end(status)

    async def _end_closed(self, status: RunStatus) -> None:
        try:
            await self.workers.shared.close()
        finally:
            self._end(status)

    def _end(self, status: RunStatus) -> None:
        self.status = RunStatus.FAILED if self.stored_end is not None and self.stored_end.broken else status
        self._start.let_go()
        self.reporter.ended(self.status)
        self.reporter.close()
        self.ended.set()
        for taking in self._takings:
            taking.done.set()


@dataclass(slots=True, eq=False)
class Taking:
    """Answers that are being applied."""

    answers: Mapping[str, ReadAnswer]
    done: Event = field(default_factory=new_event)  # set once they are applied, or the run has ended
    applied: set[str] = field(default_factory=set)  # the asks among them that were open


class StoredEnd:
    """The part of an engine that handles the store of its run."""

    def __init__(self, engine: Engine) -> None:
        writer = engine.scheduler.journal_writer
        assert writer is not None, "the run lives in a store"
        self.journal_writer = writer
        self.broken: BaseException | None = None  # what kept the run from being written
        self.is_pausing = False  # whether the run may pause is being decided
        self._engine = engine
        self._decided: Event | None = None  # set when that is decided
        self._arrived = set(writer.arrived)  # asks whose pending answers were seen
        writer.journal.attend(self._committed, self.cannot_write)
        writer.on_refused = self.cannot_write

    def pause(self, data: Mapping[str, Any]) -> None:
        """Decide whether the run may pause, and pause it (S11.2)."""
        self.is_pausing, self._decided = True, new_event()
        self._engine.spawn(partial(self._pause, data))

    async def decided(self) -> None:
        """Wait until it is decided whether the run may pause."""
        while self.is_pausing and self._decided is not None:
            await self._decided.wait()

    async def _pause(self, data: Mapping[str, Any]) -> None:
        engine = self._engine
        assert self._decided is not None, "it is being found out"
        answers: Sequence[Answer] = ()
        try:
            answers = await self.journal_writer.pause(data)
        except DataflowError as error:
            self.broken = self.broken or error
        goes_on = bool(answers) or self.broken is not None or engine.cancel_reason is not None
        if not goes_on:
            engine.note_paused()
            await self.close()
        self.is_pausing = False
        if goes_on:
            engine.scheduler.timing.go_on()
            self._go_on(answers)
        else:
            engine.end_paused()
        self._decided.set()

    def _go_on(self, answers: Sequence[Answer]) -> None:
        """Continue instead of pausing, with the pending answers, or to the end."""
        engine = self._engine
        if self.broken is not None:
            engine.stop("what it did could not be stored")
        elif engine.cancel_reason is not None:
            engine.stop(engine.cancel_reason)
        elif not self._take(answers):
            engine.look_around()

    def _committed(self, seq: int, answers: Sequence[Answer]) -> None:
        self.journal_writer.committed(seq)
        # an ask whose answer was removed may be answered again
        self._arrived &= {answer.ask for answer in answers}
        # else the answers keep the run from pausing, and are taken then
        if self.is_pausing or self._engine.has_concluded:
            return
        if answers:
            self._take(answers)

    def _take(self, answers: Sequence[Answer]) -> bool:
        """Take each pending answer once; return whether any was accepted."""
        taken: dict[str, ReadAnswer] = {}
        for answer in answers:
            if answer.ask in self._arrived:
                continue
            self._arrived.add(answer.ask)
            try:
                read = self._engine.scheduler.asking.read_json(answer.ask, answer.value, answer.by)
                taken[answer.ask] = read
            except AnswerRefused as error:
                self._engine.scheduler.warn("", "answer_refused", str(error), taken=[answer.ask])
        if taken:
            self._engine.take(taken)
        return bool(taken)

    def cannot_write(self, error: BaseException) -> None:
        """End a run that can no longer be written; its stored state remains unchanged."""
        if self.broken is None:
            self.broken = error
            self._engine.stop("what it did could not be stored")

    async def end(self, status: RunStatus) -> None:
        """End the execution session once all records are written, and release the run."""
        try:
            await self.close()
        finally:  # the owner waits for it
            self._engine.end(status)

    async def close(self) -> None:
        """Write the remaining records and release the run, even during a cancellation."""
        try:
            await self.journal_writer.journal.close()
        except DataflowError as error:
            self.broken = self.broken or error
