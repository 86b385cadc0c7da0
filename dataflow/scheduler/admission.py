"""Admission control: which ready firings may start under the limits of run and nodes."""

from __future__ import annotations

import math
import threading
from collections import deque
from functools import partial
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final, TypeAlias

from dataflow.compiler.plan import Call, FlowOf
from dataflow.core.limits import TAKEN, Gate, Limit
from dataflow.core.ports import MISSING
from dataflow.core.states import READY, RUNNING
from dataflow.diagnostics.runs import LIMIT_UNUSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from dataflow.compiler.plan import FlowPlan, ScopePlan
    from dataflow.core.policy import Settings
    from dataflow.scheduler.frames import FiringId, Frame
    from dataflow.scheduler.timers import Timers

__all__ = ["Admission", "Permit", "RunSlots", "nothing_kept", "unused_limits"]

#: The key of a queue: a named limit of the run, a named limit in the settings of a subflow, or the limit of
#: one node; None for the run's own slots alone.
Key: TypeAlias = "str | tuple[int, str] | tuple[ScopePlan, int] | None"
#: Has the run's event loop take a step of the scheduler soon; safe to call from any thread.
Later: TypeAlias = "Callable[[Callable[[], None]], None]"


class _Slots:
    """The free slots of a run, which abandoned threads give back when they end."""

    def __init__(self, free: float) -> None:
        self.later: Later | None = None  # set by the engine
        self._free = free

    def _returned(self, permit: Permit) -> None:
        """Take back the slots of an abandoned thread that has ended, in that thread."""
        if permit.drop() and self.later is not None:
            self.later(self._take_back)

    def _take_back(self) -> None:
        self._free += 1


class Admission(_Slots):
    """The part of the scheduler that grants slots: a firing has all that it needs, or waits without any.

    First come, first served for each limit: a firing that waits for one limit does not hold up firings that
    need another. Runs that share a `Limit` take turns at it. The heap contains the queues that may be asked,
    by the ticket of their first firing, so that releasing a slot does not visit all waiting firings.
    """

    def __init__(self, settings: Settings, timers: Timers) -> None:
        super().__init__(math.inf if settings.max_concurrency is None else settings.max_concurrency)
        self._timers = timers
        self._limits: Final = settings.limits or {}
        self._is_bounded = settings.max_concurrency is not None
        self._queues: dict[Key, _Queue] = {}
        self._open: list[tuple[int, _Queue]] = []
        self._woken: list[_Queue] = []
        self._permits: dict[FiringId, Permit] = {}
        self._tickets = 0
        self._waiting = 0
        self._is_acting = False  # `admit` is still to come
        self._thread = threading.get_ident()

    @property
    def are_waiting(self) -> bool:
        """Whether a firing waits for slots; a cancelled one counts until its turn."""
        return bool(self._waiting)

    def admit(self, newly: Sequence[FiringId]) -> list[FiringId]:
        """Return the firings that may start now, of these and of those that wait."""
        self._is_acting = True
        if not newly:
            granted = self._grant()
            self._is_acting = False
            return granted
        unlimited: set[FiringId] = set()
        for firing in newly:
            queue = self._queue_of(firing)
            if queue is None:
                unlimited.add(firing)
                continue
            self._tickets += 1
            self._waiting += 1
            queue.waiting.append((self._tickets, firing))
            if len(queue.waiting) == 1:
                self._offer(queue)
        granted = self._grant()
        self._is_acting = False
        may_start, new = unlimited.union(granted), set(newly)
        waited = [firing for firing in granted if firing not in new]
        return waited + [firing for firing in newly if firing in may_start]

    def begun(self, firing: FiringId) -> None:
        """Note that a firing has entered its function: starts per second count from here."""
        permit = self._permits.get(firing)
        if permit is not None:
            permit.begin()

    def ended(self, firing: FiringId, *, has_begun: bool = True) -> None:
        """Take back the slots of a firing, unless an abandoned thread of it keeps them."""
        self._is_acting = True
        permit = self._permits.pop(firing, None)
        if permit is None:
            return
        if has_begun:
            permit.begin()
        if permit.drop():
            self._free += 1

    def keep(self, firing: FiringId) -> Callable[[], None]:
        """Keep the slots of a firing for an abandoned thread; return the function to call when it ends."""
        permit = self._permits.get(firing)
        if permit is None:
            return nothing_kept
        permit.keep()
        return partial(self._returned, permit)

    def close(self) -> None:
        """Release everything and clear the queues: the run has ended."""
        self._is_acting = True
        for firing in tuple(self._permits):
            self.ended(firing, has_begun=False)
        for queue in self._queues.values():
            queue.waiting.clear()
            if queue.gate is not None:
                queue.gate.leave(queue)
        self._waiting = 0

    def _queue_of(self, firing: FiringId) -> _Queue | None:
        key, limit = self._limit_of(*firing)
        if key is None and not self._is_bounded:
            return None
        queue = self._queues.get(key)
        if queue is None:
            gate = limit.gate if isinstance(limit, Limit) else Gate(limit) if limit is not None else None
            queue = self._queues[key] = _Queue(gate, self._wake)
        return queue

    def _limit_of(self, frame: Frame, index: int) -> tuple[Key, Limit | int | None]:
        """Return the limit of a node; a name is looked up in the subflows around it, then in the run."""
        action = frame.plan.nodes[index].action
        assert isinstance(action, Call), "only calls hold slots"
        limit = action.policy.limit
        if limit is MISSING or limit is None:
            return None, None
        if not isinstance(limit, str):
            return (frame.plan, index), limit
        for flow in _flows_around(frame):
            if flow.settings.limits is not None and limit in flow.settings.limits:
                return (id(flow.settings), limit), flow.settings.limits[limit]
        if limit not in self._limits:  # an unset limit does not limit anything
            return None, None
        return limit, self._limits[limit]

    def _offer(self, queue: _Queue) -> None:
        queue.is_open = True
        heappush(self._open, (queue.waiting[0][0], queue))  # no two have the same ticket

    def _grant(self) -> list[FiringId]:
        """Let firings start, in the order of their tickets."""
        granted: list[FiringId] = []
        while self._free >= 1 and self._open:
            ticket, queue = heappop(self._open)
            queue.is_open = False
            firing = self._first_of(queue)
            if firing is None:
                continue
            if queue.waiting[0][0] != ticket:  # its owner was cancelled: the next one is younger
                self._offer(queue)
                continue
            if not self._passes(queue):
                continue
            queue.waiting.popleft()
            self._waiting -= 1
            self._free -= 1
            self._permits[firing] = Permit(queue.gate)
            granted.append(firing)
            if queue.waiting:
                self._offer(queue)
        for queue in self._woken:  # without a slot of the run it must not hold up other runs
            if queue.is_open and queue.gate is not None:
                queue.gate.leave(queue)
        self._woken.clear()
        return granted

    def _first_of(self, queue: _Queue) -> FiringId | None:
        """Return the first firing of a queue, dropping those whose scope instance was closed."""
        while queue.waiting:
            frame, index = firing = queue.waiting[0][1]
            if frame.states[index] in (READY, RUNNING):  # a running one has looked into the memo first
                return firing
            queue.waiting.popleft()
            self._waiting -= 1
        if queue.gate is not None:
            queue.gate.leave(queue)
        return None

    def _passes(self, queue: _Queue) -> bool:
        if queue.gate is None:
            return True
        wait = queue.gate.take(queue)
        if TAKEN < wait < math.inf:
            self._timers.set(wait, partial(self._reopen, queue))
        return wait == TAKEN

    def _reopen(self, queue: _Queue) -> None:
        """Note that a queue may be asked again."""
        if queue.is_open:
            return
        if not queue.waiting:
            if queue.gate is not None:
                queue.gate.leave(queue)
            return
        self._woken.append(queue)
        self._offer(queue)

    def _wake(self, queue: _Queue) -> None:
        if self._is_acting and threading.get_ident() == self._thread:
            self._reopen(queue)
        elif self.later is not None:
            self.later(partial(self._reopen, queue))


class _Queue:
    """The firings of a run that wait for the same limit, each with its ticket."""

    __slots__ = ("_wake", "gate", "is_open", "waiting")

    def __init__(self, gate: Gate | None, wake: Callable[[_Queue], None]) -> None:
        self.gate = gate
        self.waiting: deque[tuple[int, FiringId]] = deque()
        self.is_open = False  # it may be asked; else it is empty, or waits to be woken
        self._wake = wake

    def wake(self) -> None:
        self._wake(self)


def _flows_around(frame: Frame) -> Iterator[FlowOf]:
    """Yield the subflows around a scope instance, innermost first."""
    while frame.parent is not None:
        action = frame.parent.plan.nodes[frame.owner].action
        if isinstance(action, FlowOf):
            yield action
        frame = frame.parent


def unused_limits(plan: FlowPlan, limits: Mapping[str, object] | None) -> list[str]:
    """Return a warning for each limit set by `using` that no node names, probably a misspelling."""
    named = sorted({name for _, name in plan.named_limits})
    return [
        str(LIMIT_UNUSED(f"flow {plan.name!r}", name=name, available=named))
        for name in limits or ()
        if name not in named
    ]


class RunSlots(_Slots):
    """`Admission` for `max_concurrency` alone: first come, first served."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._waiting: deque[FiringId] = deque()
        self._holding: set[FiringId] = set()
        self._kept: dict[FiringId, Permit] = {}  # of firings with an abandoned thread

    @property
    def are_waiting(self) -> bool:
        """Whether a firing waits for a slot; a cancelled one counts until its turn."""
        return bool(self._waiting)

    def admit(self, newly: Sequence[FiringId]) -> list[FiringId]:
        """Return the firings that may start now, of these and of those that wait."""
        waiting, granted = self._waiting, []
        waiting.extend(newly)
        while waiting and self._free:
            frame, index = firing = waiting.popleft()
            if frame.states[index] in (READY, RUNNING):  # else its scope instance was closed while it waited
                self._free -= 1
                self._holding.add(firing)
                granted.append(firing)
        return granted

    def begun(self, firing: FiringId) -> None:
        """Note that a firing has entered its function: starts are not counted."""

    def ended(self, firing: FiringId, *, has_begun: bool = True) -> None:  # noqa: ARG002 - as in Admission
        """Take back the slot of a firing, unless an abandoned thread of it keeps it."""
        if firing not in self._holding:
            return
        self._holding.discard(firing)
        kept = self._kept.pop(firing, None) if self._kept else None
        if kept is None or kept.drop():
            self._free += 1

    def keep(self, firing: FiringId) -> Callable[[], None]:
        """Keep the slot of a firing for an abandoned thread; return the function to call when it ends."""
        if firing not in self._holding:
            return nothing_kept
        permit = self._kept.setdefault(firing, Permit(None))
        permit.keep()
        return partial(self._returned, permit)

    def close(self) -> None:
        """Clear the queue: the run has ended."""
        self._waiting.clear()
        self._holding.clear()
        self._kept.clear()


class Permit:
    """The slots of one firing, until it and all its abandoned threads have ended."""

    __slots__ = ("_holders", "_lock", "gate", "has_begun")

    def __init__(self, gate: Gate | None) -> None:
        self.gate = gate
        self.has_begun = False
        self._holders = 1
        self._lock = threading.Lock()

    def begin(self) -> None:
        if not self.has_begun:
            self.has_begun = True
            if self.gate is not None:
                self.gate.started()

    def keep(self) -> None:
        with self._lock:
            self._holders += 1

    def drop(self) -> bool:
        """Drop one reference; return whether it was the last. Safe to call from any thread."""
        with self._lock:
            self._holders -= 1
            is_last = not self._holders
        if is_last and self.gate is not None:
            self.gate.release(has_begun=self.has_begun)
        return is_last


def nothing_kept() -> None:
    """Do nothing: no slots are kept for the thread."""
