"""The engine: one run from its start to its end, however it ends (S9.6, S18)."""

from __future__ import annotations

import logging
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Final

import anyio

from dataflow.admission import unused_limits
from dataflow.backend import caller, new_event
from dataflow.errors import DataflowError
from dataflow.events import EventKind, Reporter
from dataflow.failure import failure_of
from dataflow.frames import Unhandled
from dataflow.reporting import unsettled_ports
from dataflow.scheduler import Scheduler
from dataflow.separation import separate
from dataflow.states import RunStatus
from dataflow.workers import Workers

if TYPE_CHECKING:
    from dataflow.frames import FiringId
    from dataflow.plan import FlowPlan
    from dataflow.policy import Settings
    from dataflow.sleepers import Spawn

__all__ = ["Engine"]

LOG: Final = logging.getLogger("dataflow.engine")


class Engine:
    """Runs one plan once, in the task group that `spawn` starts tasks in."""

    def __init__(
        self, plan: FlowPlan, inputs: dict[str, Any], settings: Settings, run_id: str, spawn: Spawn
    ) -> None:
        self.plan = plan
        self.reporter = Reporter(run_id, call=caller())
        self.scheduler = Scheduler(plan, settings, self.reporter, anyio.current_time)
        self.workers = Workers(self.scheduler, spawn, self._look_around)
        self.status = RunStatus.RUNNING
        self.ended = new_event()
        self._inputs = inputs  # emptied when they stand in the root, which may let them go (S8.5)
        self._settings = settings
        self._cancel_reason: str | None = None
        self._has_started = False
        self._until = inf  # when the run has to have ended

    def begin(self) -> None:
        """Spawn the first worker, which starts the run; nothing has run when this returns."""
        self.workers.begin(self._first)

    def cancel(self, reason: str) -> None:
        """Cancel the run; its tasks end at their next step."""
        if self.status is not RunStatus.RUNNING or self._cancel_reason is not None:
            return
        if not self.scheduler.root.failures:  # a run that is failing already fails
            self._cancel_reason = reason
        self._start()
        self.scheduler.abort(reason)
        self.workers.act()
        if self.workers.are_idle or self.scheduler.has_ended:
            self._conclude()

    def left(self) -> None:
        """Record the truth when the run's tasks were ended from outside (S9.6)."""
        if self.status is RunStatus.RUNNING:
            self.cancel("cancelled from outside")
            for frame, index in self.workers.running():
                self.scheduler.settling.cancelled(frame, index)
            while self.scheduler.has_more or self.scheduler.has_items:
                self.scheduler.advance() if self.scheduler.has_more else self.scheduler.begin_items()
            self._conclude()

    def _first(self) -> list[FiringId]:
        if self.scheduler.has_ended:  # cancelled before it began
            return []
        self._start()
        if self._settings.timeout is not None:
            end = partial(self.scheduler.failing.run_timed_out, self._settings.timeout)
            self.scheduler.timers.set(self._settings.timeout, end, is_awaited=False)
            self._until = self.scheduler.clock() + self._settings.timeout
        ready = self.scheduler.start(self._inputs)
        self._inputs.clear()
        return ready

    def _start(self) -> None:
        """Report that the run has started, once."""
        if self._has_started:
            return
        self._has_started = True
        if self.reporter.is_listening:
            data = {"flow": self.plan.name, "inputs": separate(dict(self._inputs))}
            self.reporter.emit(EventKind.RUN_STARTED, "", data)
        unused = self.plan.unused_policies
        if unused:
            text = f"flow {self.plan.name!r} sets what has no effect in this release: {', '.join(unused)}"
            LOG.warning("%s", text)
            self._warn("without_effect", text)
        if self._settings.limits:
            for text in unused_limits(self.plan, self._settings.limits):
                self._warn("unused_limit", text)

    def _warn(self, code: str, text: str) -> None:
        self.scheduler.warnings.append(text)
        if self.reporter.is_listening:
            self.reporter.emit(EventKind.WARNING, "", {"code": code, "text": text})

    def _check_time(self) -> None:
        """Fail a run that has ended too late: its code kept the timer from being noticed."""
        timeout, scheduler = self._settings.timeout, self.scheduler
        has_failed = bool(scheduler.root.failures) or self._cancel_reason is not None
        if timeout is not None and not has_failed and scheduler.clock() >= self._until:
            scheduler.failing.run_timed_out(timeout)

    def _look_around(self) -> None:
        """Conclude when nothing is left to do; with ports unsettled that is an internal error (S8.4)."""
        if not self.scheduler.has_ended:
            ports = ", ".join(unsettled_ports(self.scheduler.root))
            error = DataflowError(
                f"internal error: nothing is running and these ports never settled: {ports}"
            )
            self.scheduler.root.note_failures([Unhandled(0, failure_of(error, "", "", 1), error)])
            self.scheduler.has_ended = True
        self._conclude()

    def _conclude(self) -> None:
        """Tell once and for all how the run has ended (S18)."""
        if self.status is not RunStatus.RUNNING:
            return
        self.scheduler.let_go()
        self.workers.act()
        self._check_time()
        if self._cancel_reason is not None:
            self.status = RunStatus.CANCELLED
        elif self.scheduler.root.failures or self.scheduler.interruption is not None:
            self.status = RunStatus.FAILED
        else:
            self.status = RunStatus.COMPLETED
        if self.reporter.is_listening:
            self.reporter.emit(EventKind.RUN_FINISHED, "", {"status": self.status.value})
        self.reporter.close()
        self._inputs.clear()
        self.ended.set()
