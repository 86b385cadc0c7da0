"""The engine of a live session: has what is wanted settle, revision after revision (S13.4)."""

from __future__ import annotations

from os import urandom
from typing import TYPE_CHECKING, Any

import anyio

from dataflow.base.backend import caller, new_event
from dataflow.core.states import UNSETTLED
from dataflow.errors import DataflowError
from dataflow.live.live_ports import LivePorts
from dataflow.live.read_digests import digest_of
from dataflow.live.reusing import Reusing
from dataflow.runtime.start import memo_for, reporter_for, warn_of_memo, warn_of_settings
from dataflow.runtime.workers import Workers
from dataflow.scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.policy import Settings
    from dataflow.runtime.tasks import Spawn
    from dataflow.scheduler.asks import ReadAnswer
    from dataflow.scheduler.frames import FiringId

__all__ = ["LiveEngine"]


class LiveEngine:
    """Runs what the scheduler of a live session says, in the task group that `spawn` starts tasks in."""

    def __init__(self, plan: FlowPlan, settings: Settings, inputs: Mapping[str, Any], spawn: Spawn) -> None:
        reporter = reporter_for(settings, plan.name, f"live-{urandom(4).hex()}", caller(), what="session")
        self.scheduler = scheduler = Scheduler(plan, settings, reporter, anyio.current_time, memo_for(plan))
        self.reusing = scheduler.live = Reusing(scheduler, self._settled)
        self.freshness = self.reusing.freshness
        scheduler.is_plain = False
        self.workers = Workers(scheduler, spawn, self._look_around)
        self.ended = new_event()
        self.over: str | None = None  # why there is nothing more to come
        self.replaced_in: dict[int, int] = {}  # by node of the root: the revision of its newest function
        self.changed_in: dict[int, int] = {}  # by slot of an input: the revision of its newest value
        self.changed = new_event()  # set, and replaced, with each revision
        self.ports = LivePorts(self)
        warn_of_settings(scheduler)
        for name, value in inputs.items():
            scheduler.root.values[plan.root.parameters[name]] = value

    def is_over(self) -> bool:
        """Whether there is nothing more to come."""
        return self.over is not None

    @property
    def is_idle(self) -> bool:
        """Whether nothing goes on that anything could still come of by itself."""
        scheduler = self.scheduler
        return self.workers.are_idle and not scheduler.has_more and not scheduler.has_items

    def _settled(self, index: int) -> None:
        self.ports.show(index)

    def revise(self, values: Mapping[int, Any]) -> None:
        """Begin the next revision with new values of inputs, by slot, unless all are as they were."""
        self.check()
        root, reusing = self.scheduler.root, self.reusing
        changed = {
            slot: (value, digested)
            for slot, value in values.items()
            if (digested := digest_of(value)) != reusing.digests.of(root, slot)
        }
        if not changed:
            return
        for slot, (value, digested) in changed.items():
            root.values[slot], root.digests[slot] = value, digested
            self.changed_in[slot] = reusing.revision + 1
        self._begin_revision(lambda: self.freshness.change(slots=changed))

    def replace(self, plan: FlowPlan, changed: Sequence[int]) -> None:
        """Begin the next revision with a plan of the same layout, of whose root some nodes have changed."""
        self.check()
        scheduler, root = self.scheduler, self.scheduler.root

        def change() -> None:
            scheduler.plan, root.plan = plan, plan.root
            if scheduler.memoizing is not None:
                scheduler.memoizing.forget_plan()
            elif (memo := memo_for(plan)) is not None:
                scheduler.memoizing = memo(scheduler)
            for slot, constant in enumerate(plan.root.initial):
                if constant is not UNSETTLED:
                    root.values[slot] = constant
                    root.digests.pop(slot, None)
            self.replaced_in.update(dict.fromkeys(changed, self.reusing.revision))
            self.reusing.replaced(changed)

        lacked = scheduler.memoizing is not None and scheduler.memoizing.lacks_store
        self._begin_revision(change)
        if not lacked:
            warn_of_memo(scheduler)

    def _begin_revision(self, change: Callable[[], None]) -> None:
        """Begin the next revision with a change, and have what is wanted settle again."""

        def step() -> None:
            self.reusing.revision += 1
            change()
            self.freshness.demand()

        self.step(step)
        self.scheduler.warnings.clear()
        changed, self.changed = self.changed, new_event()
        changed.set()

    def answer(self, answers: Mapping[str, ReadAnswer]) -> None:
        """Take answers that were read and found to fit."""
        self.check()
        asking = self.scheduler.asking
        asking.promise(answers)
        newly = self._drained()
        for id, answer in answers.items():
            newly += asking.take(id, answer)
        self._hand_over(newly)

    def step(self, step: Callable[[], None]) -> None:
        """Take a step of the scheduler, and have workers fire what it makes ready."""
        self._hand_over(self._drained() + self.scheduler.take_step(step))

    def _drained(self) -> list[FiringId]:
        """Work off what the scheduler has left for later; returns what that made ready."""
        newly: list[FiringId] = []
        while self.scheduler.has_more:
            newly += self.scheduler.advance()
        return newly

    def _hand_over(self, newly: list[FiringId]) -> None:
        scheduler = self.scheduler
        if scheduler.to_act:
            self.workers.act()
        if newly or scheduler.has_more or scheduler.has_items:
            self.workers.begin(lambda: newly)
        elif self.is_idle:
            self._look_around()

    def _look_around(self) -> None:
        """Wake those who wait for what can no longer come, once nothing goes on."""
        if self.scheduler.interruption is not None:
            self.cancel(f"it was interrupted by {type(self.scheduler.interruption).__name__}")
        if not self.is_idle:
            return
        self.ports.wake()
        if self.over is not None:
            self.ended.set()

    def cancel(self, reason: str) -> None:
        """End the session: what runs is cancelled, and who waits is told."""
        if self.over is not None:
            return
        self.over = reason
        self.scheduler.abort(reason)
        self.scheduler.has_ended = True
        self.scheduler.let_go()
        self.workers.act()
        self.changed.set()
        self._look_around()

    def leave(self, _: BaseException | None) -> None:
        """End the session with its block."""
        self.cancel("its block has been left")

    async def close(self) -> None:
        """Tell whoever waits outside of the block that the session is over, however it has ended."""
        self.over = self.over or "cancelled from outside"
        self.scheduler.has_ended = True
        self.changed.set()
        self.ports.wake()
        self.scheduler.let_go()
        self.scheduler.reporter.close()

    def check(self) -> None:
        """Raise DataflowError if the session is over."""
        if self.over is not None:
            raise DataflowError(f"the live session of flow {self.scheduler.plan.name!r} is over: {self.over}")
