"""Driving the scheduler alone: firings start and settle in any order, without an event loop."""

from __future__ import annotations

import random
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from dataflow import Flow, RunFailed
from dataflow.compiler.plan import Call
from dataflow.core.events import Reporter
from dataflow.core.firing import CURRENT, Firing
from dataflow.core.ports import MISSING
from dataflow.core.states import READY, RUNNING, RunStatus
from dataflow.runtime.run import outcome
from dataflow.scheduler.arguments import bind
from dataflow.scheduler.frames import Frame, RetryState
from dataflow.scheduler.reports import unsettled_ports
from dataflow.scheduler.scheduler import Scheduler
from tests.properties.node_functions import recording
from tests.properties.playing import Played
from tests.properties.random_flows import Program

#: How many starts and ends a random flow has at most; more of them would be a run that hangs.
MOST_STEPS = 20_000


@dataclass(slots=True)
class _Driver:
    """Starts and settles firings as `choose` says; implements the source of `this_firing`."""

    scheduler: Scheduler
    choose: random.Random
    path: str = ""
    attempt: int = 1
    most_running: int = 0

    def this_firing(self) -> Firing:
        return Firing("a run", self.path, self.attempt)

    def in_thread(self) -> Any:
        raise AssertionError("no node of a random flow runs in a thread")

    def run(self, inputs: dict[str, Any]) -> None:
        ready = self.scheduler.start(inputs)
        running: list[tuple[Frame, int, Any]] = []
        for _ in range(MOST_STEPS):
            if self.scheduler.has_more:
                ready += self.scheduler.advance()
            if not ready and self.scheduler.has_items:
                ready += self.scheduler.begin_items()
            if not ready and not running:
                break
            if ready and (not running or self.choose.random() < 0.5):
                frame, index = ready.pop(self.choose.randrange(len(ready)))
                if frame.states[index] == READY:
                    running.append((frame, index, self._started(frame, index)))
                    self.most_running = max(self.most_running, len(running))
                else:  # its frame was closed meanwhile
                    ready += self.scheduler.settling.passed_over(frame, index)
            else:
                ready += self._settled(*running.pop(self.choose.randrange(len(running))))
        assert self.scheduler.has_ended, unsettled_ports(self.scheduler.root)
        assert not ready
        assert not running

    def _started(self, frame: Frame, index: int) -> Any:
        """Call a node; what it comes to is kept until the firing is settled."""
        node = frame.plan.nodes[index]
        call = node.action
        assert isinstance(call, Call)
        frame.states[index] = RUNNING
        attempts = frame.attempts_at(index) if call.bounds is not None else RetryState()
        self.path, self.attempt = frame.path_of(node), attempts.number
        attempts.is_last = True  # until the function is called
        try:
            positional, keywords = bind(frame, node, call)
            attempts.is_last = False
            coroutine: Any = call.type.call(*positional, **keywords)
            coroutine.send(None)
        except StopIteration as returned:
            return returned.value
        except Exception as error:  # noqa: BLE001 - what a node raises settles it
            return error
        raise AssertionError("a node waited though no pace was set")

    def _settled(self, frame: Frame, index: int, came: Any) -> list[tuple[Frame, int]]:
        if frame.has_stopped(index):
            return self.scheduler.settling.cancelled(frame, index)
        if isinstance(came, Exception):
            return self.scheduler.settling.fail(frame, index, came)
        return self.scheduler.settling.succeed(frame, index, came)


def drive(flow: Flow, program: Program, choose: random.Random) -> Played:
    plan = flow.compile()
    scheduler = Scheduler(plan, flow.settings, Reporter("a run"), lambda: 0.0)
    driver = _Driver(scheduler, choose)
    defaults = {n: given.default for n, given in flow.inputs.items() if given.default is not MISSING}
    token = CURRENT.set(driver)
    try:
        with recording() as record:
            driver.run({**defaults, **program.inputs})
    finally:
        CURRENT.reset(token)
    assert driver.most_running <= (flow.settings.max_concurrency or MOST_STEPS)
    status = RunStatus.FAILED if scheduler.root.failures else RunStatus.COMPLETED
    engine: Any = SimpleNamespace(
        plan=plan, scheduler=scheduler, reporter=scheduler.reporter, status=status, stored_end=None
    )
    try:
        return Played(outcome(engine), record.fired)
    except RunFailed as failed:
        return Played(failed.result, record.fired, tuple(failed.failures))
