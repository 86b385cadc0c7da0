"""The engine of a live session: it runs the scheduler's firings and wakes the waiters of ports."""

from __future__ import annotations

from contextlib import contextmanager
from os import urandom
from typing import TYPE_CHECKING, Any, NamedTuple

from dataflow.base.backend import LoopTime, new_event, threadsafe_call
from dataflow.base.copies import own_copy
from dataflow.core.states import UNSETTLED, is_dead, value_of
from dataflow.diagnostics.runs import SESSION_OVER
from dataflow.errors import DataflowError, Paused, RunFailed
from dataflow.live.reuse import Reuse, digest_of
from dataflow.runtime.result import Result, special_token
from dataflow.runtime.start import memo_for, reporter_for, warn_of_memo, warn_of_settings
from dataflow.runtime.workers import Workers
from dataflow.scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Literal

    from dataflow.compiler.addresses import RootPort
    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.policy import Settings
    from dataflow.core.states import Errored
    from dataflow.runtime.tasks import Spawn
    from dataflow.scheduler.asks import ReadAnswer
    from dataflow.scheduler.frames import FiringId

__all__ = ["LiveEngine", "Seen", "failed"]


class LiveEngine:
    """Runs the firings of a live session's scheduler, in the task group that `spawn` starts tasks in."""

    def __init__(self, plan: FlowPlan, settings: Settings, inputs: Mapping[str, Any], spawn: Spawn) -> None:
        reporter = reporter_for(
            settings, plan.name, f"live-{urandom(4).hex()}", threadsafe_call(), what="session"
        )
        self.scheduler = scheduler = Scheduler(plan, settings, reporter, LoopTime(), memo_for(plan))
        self.reusing = scheduler.live = Reuse(scheduler, self._settled)
        self.freshness = self.reusing.freshness
        scheduler.is_plain = False
        self.workers = Workers(scheduler, spawn, self._look_around)
        self.ended = new_event()
        self.over: str | None = None  # why the session is over
        self.replaced_in: dict[int, int] = {}  # by node of the root: the revision of its newest function
        self.changed_in: dict[int, int] = {}  # by slot of an input: the revision of its newest value
        self.changed = new_event()  # set, and replaced, with each revision
        self.ports = LivePorts(self)
        warn_of_settings(scheduler)
        for name, value in inputs.items():
            scheduler.root.values[plan.root.parameters[name]] = value

    def is_over(self) -> bool:
        """Whether the session is over."""
        return self.over is not None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is running or scheduled that could settle a port."""
        scheduler = self.scheduler
        return self.workers.are_idle and not scheduler.has_more and not scheduler.has_items

    def _settled(self, index: int) -> None:
        self.ports.show(index)

    def revise(self, values: Mapping[int, Any]) -> None:
        """Begin the next revision with new values of inputs, by slot, unless all are unchanged."""
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
        """Begin the next revision with a plan of the same layout, in which some root nodes have changed."""
        self.check()
        scheduler, root = self.scheduler, self.scheduler.root

        def change() -> None:
            scheduler.plan, root.plan = plan, plan.root
            if scheduler.memos is not None:
                scheduler.memos.forget_plan()
            elif (memo := memo_for(plan)) is not None:
                scheduler.memos = memo(scheduler)
            for slot, constant in enumerate(plan.root.initial):
                if constant is not UNSETTLED:
                    root.values[slot] = constant
                    root.digests.pop(slot, None)
            self.replaced_in.update(dict.fromkeys(changed, self.reusing.revision))
            self.reusing.replaced(changed)

        lacked = scheduler.memos is not None and scheduler.memos.lacks_store
        self._begin_revision(change)
        if not lacked:
            warn_of_memo(scheduler)

    def _begin_revision(self, change: Callable[[], None]) -> None:
        """Begin the next revision with a change, and have the demanded nodes settle again."""

        def step() -> None:
            self.reusing.revision += 1
            change()
            self.freshness.demand()

        self.step(step)
        self.scheduler.forget_warnings()
        changed, self.changed = self.changed, new_event()
        changed.set()

    def answer(self, answers: Mapping[str, ReadAnswer]) -> None:
        """Apply answers that were read and validated."""
        self.check()
        self.workers.follow_caller()
        asking = self.scheduler.asking
        asking.promise(answers)
        newly = self._drained()
        for id, answer in answers.items():
            newly += asking.take(id, answer)
        self._hand_over(newly)

    def step(self, step: Callable[[], None]) -> None:
        """Take a step of the scheduler, and have workers fire the nodes that become ready.

        They fire in the context of the caller: what they print in a notebook is shown in its cell.
        """
        self.workers.follow_caller()
        self._hand_over(self._drained() + self.scheduler.take_step(step))

    def _drained(self) -> list[FiringId]:
        """Finish the steps that the scheduler has deferred; return the firings that became ready."""
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
        """Wake the waiters of ports that can no longer settle, once nothing is running."""
        if self.scheduler.interruption is not None:
            self.cancel(f"it was interrupted by {type(self.scheduler.interruption).__name__}")
        if not self.is_idle:
            return
        self.ports.wake()
        if self.over is not None:
            self.ended.set()

    def cancel(self, reason: str) -> None:
        """End the session: cancel what is running, and wake all waiters."""
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
        """End the session when its block is left."""
        self.cancel("its block has been left")

    async def close(self) -> None:
        """Wake the waiters outside of the block, however the session has ended."""
        self.over = self.over or "cancelled from outside"
        self.scheduler.has_ended = True
        self.changed.set()
        self.ports.wake()
        self.scheduler.let_go()
        self.scheduler.reporter.close()

    def check(self) -> None:
        """Raise DataflowError if the session is over."""
        if self.over is not None:
            raise DataflowError(SESSION_OVER(f"flow {self.scheduler.plan.name!r}", reason=self.over))


class Seen(NamedTuple):
    """The token of a slot in one revision, with its content hash."""

    token: Any
    digest: object


class _Waiter:
    """A waiter for a port of the root; a patient one also waits while an ask is open."""

    __slots__ = ("is_patient", "port", "seen", "woken")

    def __init__(self, port: RootPort, *, is_patient: bool) -> None:
        self.port = port
        self.woken = new_event()  # another event for each wait
        self.is_patient = is_patient
        self.seen: Seen | None = None


class LivePorts:
    """Reads the ports of the root, and waits until they have settled."""

    def __init__(self, engine: LiveEngine) -> None:
        self._engine = engine
        self._waiters: dict[int, list[_Waiter]] = {}  # by node of the root

    def maker(self, port: RootPort) -> int | None:
        """Return the node of the root that a port belongs to, None for an input or a constant."""
        if port.slot is None:
            return None if port.node is None else port.node.index
        return self._engine.freshness.links.makers.get(port.slot)

    def is_fresh(self, port: RootPort) -> bool:
        """Return whether a port has settled for the current inputs."""
        maker = self.maker(port)
        return maker is None or self._engine.freshness.is_fresh(maker)

    @contextmanager
    def wanting(self, ports: Sequence[RootPort]) -> Iterator[None]:
        """Demand ports in every revision that is current while the block runs."""
        makers = [maker for maker in map(self.maker, ports) if maker is not None]
        wanted = self._engine.freshness.wanted
        for maker in makers:  # `update` of a counter takes ten times as long
            wanted[maker] += 1
        try:
            self._engine.step(self._engine.freshness.demand)
            yield
        finally:
            for maker in makers:
                wanted[maker] -= 1
                if not wanted[maker]:
                    del wanted[maker]

    def look(self, port: RootPort) -> Seen:
        """Return what a port holds now."""
        root, digests = self._engine.scheduler.root, self._engine.reusing.digests
        if port.slot is not None:
            return Seen(value_of(root.values[port.slot]), digests.of(root, port.slot))
        assert port.node is not None, "only ports of nodes have no slot"
        token = special_token(root, port.node, port.port)
        return Seen(token, digest_of(token))

    async def settled(self, port: RootPort, *, is_patient: bool = False) -> Seen:
        """Wait until a port has settled for the current inputs, or for those of a later revision.

        Raises Paused if an answer is needed, unless patient; DataflowError if the session is over.
        """
        self._engine.check()
        maker = self.maker(port)
        if maker is None or self._engine.freshness.is_fresh(maker):
            return self.look(port)
        waiter = _Waiter(port, is_patient=is_patient)
        self._waiters.setdefault(maker, []).append(waiter)
        try:
            with self.wanting([port]):
                while (
                    waiter.seen is None
                    and self._engine.over is None
                    and (is_patient or not self._engine.is_idle)
                ):
                    if waiter.woken.is_set():
                        waiter.woken = new_event()
                    await waiter.woken.wait()  # meanwhile it may have been answered, or changed, once more
        finally:
            left = [one for one in self._waiters.pop(maker, ()) if one is not waiter]
            if left:
                self._waiters[maker] = left
        self._engine.check()
        if waiter.seen is not None:
            return waiter.seen
        if self._engine.scheduler.asking.open:
            raise Paused(_snapshot(self._engine.scheduler, "paused"))
        raise DataflowError(f"internal error: nothing is running and port {port.port!r} never settled")

    async def settled_together(self, ports: Sequence[RootPort]) -> list[Seen]:
        """Wait until ports have settled for the inputs of one revision; see `settled`."""
        if len(ports) == 1:
            return [await self.settled(ports[0])]
        with self.wanting(ports):
            while True:
                for port in ports:
                    await self.settled(port)
                if all(map(self.is_fresh, ports)):  # else the next revision has begun meanwhile
                    return list(map(self.look, ports))

    def show(self, index: int) -> None:
        """Give a settled node to its waiters; an interruption is reported when the session ends."""
        if index not in self._waiters or self._engine.scheduler.interruption is not None:
            return
        for waiter in self._waiters.pop(index):
            waiter.seen = self.look(waiter.port)
            waiter.woken.set()

    def wake(self) -> None:
        """Wake the waiters of ports that cannot settle; patient ones only when the session is over."""
        for waiters in self._waiters.values():
            for waiter in waiters:
                if self._engine.over is not None or not waiter.is_patient:
                    waiter.woken.set()


def _snapshot(scheduler: Scheduler, status: Literal["paused", "failed"]) -> Result:
    """Return a result with the outputs that have settled so far."""
    values, plan = scheduler.root.values, scheduler.plan
    tokens = {name: values[slot] for name, slot in plan.outputs.items()}
    outputs = {
        name: own_copy(token)
        for name, token in tokens.items()
        if not is_dead(token) and token is not UNSETTLED
    }
    asks = scheduler.asking.asks if status == "paused" else ()
    return Result(scheduler.reporter.run, status, outputs, (), asks, _plan=plan, _root=scheduler.root)


def failed(scheduler: Scheduler, token: Errored) -> RunFailed:
    """Return the error for a port that holds a failure; its `__cause__` is the node's own exception."""
    raised = [one.error for one in scheduler.root.failures if one.failure == token.failure]
    error = RunFailed(_snapshot(scheduler, "failed"), [token.failure])
    error.__cause__ = raised[0] if raised else None
    return error
