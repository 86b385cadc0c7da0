"""The scheduler: a work list that settles nodes and makes their dependents ready."""

from __future__ import annotations

from collections import deque
from time import monotonic
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, assert_never

from dataflow.base.copies import own_copy
from dataflow.base.wording import conceal
from dataflow.core.events import EventKind
from dataflow.core.inputs import secret_classes
from dataflow.core.states import READY, UNSETTLED, Skip, is_dead
from dataflow.scheduler.admission import Admission, RunSlots
from dataflow.scheduler.asks import Asking
from dataflow.scheduler.demand import Pulling, Racing
from dataflow.scheduler.failures import Failing, Repeating
from dataflow.scheduler.firing_rule import Releasing
from dataflow.scheduler.frames import Frame, OpenedFlow, OpenedLoop, OpenedMap
from dataflow.scheduler.loops import Loops
from dataflow.scheduler.maps import Maps
from dataflow.scheduler.outcomes import Settling
from dataflow.scheduler.reports import report_end
from dataflow.scheduler.scopes import Nesting, Opening
from dataflow.scheduler.timers import Clock, Standing, Timers, Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from dataflow.compiler.plan import FlowPlan, PlanNode
    from dataflow.core.events import Reporter
    from dataflow.core.policy import Settings
    from dataflow.durable.journal import JournalWriter
    from dataflow.durable.replay import Replay
    from dataflow.live.reuse import Reuse
    from dataflow.memo.lookup import Memos
    from dataflow.scheduler.frames import FiringId
    from dataflow.scheduler.timers import Timer

__all__ = ["Scheduler"]

#: How many steps of the work list run before other tasks of the event loop may run.
MOST_STEPS: Final = 1_000


class Scheduler:
    """The state of one run and the rules that advance it.

    The engine starts it and reports the outcome of each firing and of each timer; it returns the firings that
    may start. Its parts, each with one responsibility, change the scope instances through `put`, `finish` and
    `make_ready`.
    """

    # beyond 30 attributes an instance has a dict of its own, and each read of one is slower
    __slots__ = (
        "__weakref__",
        "_abort_reason",
        "_ended",
        "_newly",
        "_settled",
        "_warned",
        "admission",
        "asking",
        "checks_values",
        "clock",
        "failing",
        "has_ended",
        "has_more",
        "interruption",
        "is_plain",
        "is_working",
        "journal_writer",
        "keep",
        "live",
        "loops",
        "maps",
        "memos",
        "nesting",
        "opening",
        "plan",
        "pulling",
        "pushing",
        "racing",
        "releasing",
        "repeating",
        "replay",
        "reporter",
        "root",
        "settings",
        "settling",
        "standing",
        "stopped",
        "timers",
        "timing",
        "to_act",
        "unusual",
        "warnings",
    )  # fmt: skip

    def __init__(
        self, plan: FlowPlan, settings: Settings, reporter: Reporter,
        clock: Callable[[], float] = monotonic, memo: Callable[[Scheduler], Memos] | None = None,
    ) -> None:  # fmt: skip
        self.plan, self.reporter = plan, reporter
        self.settings = settings
        self.clock = Clock(clock)  # the time of the run, in seconds; it stops while the run is paused
        self.keep = settings.keep  # values of the root are kept for the result (S8.5)
        self.journal_writer: JournalWriter | None = None  # of a stored run
        self.replay: Replay | None = None  # of a resumed run
        self.live: Reuse | None = None  # of a live session
        self.checks_values = settings.check_values
        # classes of results that the fast path does not take
        self.unusual: Final = frozenset({CoroutineType, *secret_classes()})
        # the fast path applies: only the arrival of values counts
        self.is_plain = settings.keep and not settings.check_values
        self.root = Frame(plan.root, 0, settings.errors or "fail_fast", keep=settings.keep)
        self.has_ended = False
        self.stopped: list[FiringId] = []  # running when their scope instance was closed or their race lost
        # scope instances were closed, or timers set or dropped, since the engine last looked
        self.to_act = False
        self.interruption: BaseException | None = None  # raised by a user's function, not an Exception
        self.warnings: list[str] = []
        self._warned: set[Hashable] = set()  # the keys of warnings that are given once
        self.failing = Failing(self)
        self.repeating = Repeating(self)
        self.loops = Loops(self)
        self.maps = Maps(self)
        self.nesting = Nesting(self)
        self.racing = Racing(self)
        self.releasing = Releasing(self)
        self.opening = Opening(self)
        self.pulling = Pulling(self)
        self.pushing = Pushing(self)
        self.timers = Timers(self)
        self.asking = Asking(self)
        self.standing = Standing(self)
        self.timing = Timing(self, self.clock)
        self.settling = Settling(self)
        self.memos = None if memo is None else memo(self)
        self.admission: Admission | RunSlots | None = None
        if plan.has_limits:
            self.admission = Admission(settings, self.timers)
        elif settings.max_concurrency is not None:
            self.admission = RunSlots(settings.max_concurrency)
        self._newly: list[FiringId] = []
        self.has_more = False  # the work list was left before its end
        self.is_working = False  # a user's test or key may call back while it is
        self._abort_reason: str | None = None
        self._settled: deque[tuple[Frame, int]] = deque()
        self._ended: deque[Frame] = deque()

    def start(self, inputs: Mapping[str, Any]) -> list[FiringId]:
        """Open the root; return the firings to begin with, in declared order (S14.2)."""
        self.is_working = True
        slots = self.plan.root.parameters
        self.opening.begin(self.root, [(slots[name], value) for name, value in inputs.items()])
        return self.advance()

    def due(self, timer: Timer) -> list[FiringId]:
        """Take the step of a timer whose time has come; return the newly ready firings."""
        return self.take_step(timer.step) if self.timers.close(timer) else []  # else it was dropped meanwhile

    def begin_step(self, frame: Frame, index: int) -> None:
        """Begin to settle a firing, which gives its slots back."""
        self.is_working = True
        if self.admission is not None:
            self.admission.ended((frame, index))

    def take_step(self, step: Callable[[], None]) -> list[FiringId]:
        """Take a step caused from outside; return the newly ready firings."""
        self.is_working = True
        step()
        return self.advance()

    def let_go(self) -> None:
        """Release timers and slots: the run has ended."""
        self.timers.drop_all()
        if self.admission is not None:
            self.admission.close()

    def abort(self, reason: str) -> None:
        """Close the whole run: waiting nodes do not run, running ones are to be cancelled (S9.6)."""
        if not self.has_ended:
            self._abort_reason = reason
            while not self.is_working:  # else it is done after the current step
                self.advance()
                if not self.has_more:
                    return

    def settle_again(self, frame: Frame, slots: Iterable[int]) -> None:
        """Schedule slots that have a token from the start."""
        self._settled.extend((frame, slot) for slot in slots)

    @property
    def has_items(self) -> bool:
        """Whether further items of a map may begin, once nothing is ready."""
        return bool(self.maps.begins)

    def begin_items(self) -> list[FiringId]:
        """Begin further items of a map; return the newly ready firings."""
        return self.take_step(self.maps.begins.popleft())

    def has_emptied(self, frame: Frame) -> None:
        """Note that all nodes of a scope instance have ended."""
        self._ended.append(frame)

    def make_ready(self, frame: Frame, index: int) -> None:
        """Note that a call may fire."""
        frame.states[index] = READY
        self._newly.append((frame, index))

    def note_ready(self, newly: Iterable[FiringId]) -> None:
        """Note that these calls have become ready."""
        self._newly += newly

    def put(self, frame: Frame, slot: int, token: Any) -> None:
        """Settle a port; each settles once (S3.1)."""
        frame.values[slot] = token
        calls = frame.plan.calls[slot]
        if (
            calls is None
            or frame.holders is not None
            or frame.dead_inputs
            or frame.is_closing
            or is_dead(token)
        ):
            self._settled.append((frame, slot))
            return
        self._newly += frame.count_down(calls)  # the fast path of `push`
        if slot in frame.plan.collects:
            self.maps.collect(frame, slot, token)

    def take(self, frame: Frame, slot: int) -> Any:
        """Return a value for one reader: a copy if there are other readers (S3.4)."""
        value = frame.values[slot]
        return own_copy(value) if frame.plan.shared[slot] else value

    def finish(self, frame: Frame, node: PlanNode, state: int) -> None:
        """Note that a node has ended."""
        frame.states[node.index] = state
        frame.unsettled -= 1
        if not frame.unsettled:
            self._ended.append(frame)
        if self.reporter.is_listening:
            report_end(self.reporter, frame, node, state)
        if frame.holders is not None:
            frame.let_go(frame.plan.held[node.index])
        if self.live is not None:
            self.live.finished(frame, node, state)

    def advance(self) -> list[FiringId]:
        """Process settled slots and ended scope instances; return the ready firings, in declared order.

        A failed scope instance is closed only when all settled slots are propagated, so that the dependents
        of the failure name it as their reason.
        """
        settled, failed, due, ended = self._settled, self.failing.frames, self.opening.due, self._ended
        known = self.replay if self.live is None else self.live
        for _ in range(MOST_STEPS):
            if self._abort_reason is not None:
                reason, self._abort_reason = self._abort_reason, None
                self.failing.close(self.root, Skip("", reason))
                self.timers.drop_all()
            elif settled:
                self.pushing.push(*settled.popleft())
            elif failed and (self.replay is None or not self.replay.reported.is_replaying):
                self.failing.close(*failed.popleft())
            elif due:
                due.popleft()()
            elif ended:
                self.pushing.end(ended.popleft())
            elif known is not None and self._newly:
                ready, self._newly = sorted(self._newly, key=_declared_order), []
                known.settle(ready)
            elif self.replay is not None and (one := self.replay.first_to_close(failed)) is not None:
                failed.remove(one)
                self.failing.close(*one)
            else:
                self.has_more = False
                break
        else:
            self.has_more = True  # other tasks run, then it is called again
        self.is_working = False
        if self.standing.bounds:
            self.standing.look()
        newly, self._newly = self._newly, []
        if known is not None:
            newly, self._newly = ([], newly) if self.has_more else (known.to_fire(), [])
        if len(newly) > 1:
            _sort(newly)
        return newly if self.admission is None else _admitted(self, self.admission, newly)

    def report(self, kind: EventKind, frame: Frame, node: PlanNode, **data: Any) -> None:
        """Report a fact about a node, if there are listeners."""
        if self.reporter.is_listening:
            self.reporter.emit(kind, frame.path_of(node), data)

    def warn(self, path: str, code: str, text: str, **data: Any) -> None:
        """Warn about a path, "" for the whole run, in the result and to listeners; secrets are masked."""
        code, text = conceal(code), conceal(text)  # as the journal has them: a resumed run compares them
        self.warnings.append(text)
        self._warned.add(text)
        if self.reporter.is_listening:
            self.reporter.emit(EventKind.WARNING, path, {"code": code, "text": text, **data})

    def warn_once(self, key: Hashable, path: str, code: str, text: str, **data: Any) -> None:
        """Warn unless it was warned with this key, or in the words of the key, before."""
        if key not in self._warned:
            self._warned.add(key)
            self.warn(path, code, text, **data)

    def restore_warnings(self, texts: Iterable[str]) -> None:
        """Begin with the warnings of earlier execution sessions, each once, and then those of this one."""
        self.warnings = list(dict.fromkeys([*texts, *self.warnings]))
        self._warned.update(self.warnings)

    def forget_warnings(self) -> None:
        """Begin without warnings."""
        self.warnings.clear()
        self._warned.clear()


def _admitted(scheduler: Scheduler, admission: Admission | RunSlots, newly: list[FiringId]) -> list[FiringId]:
    """Return the firings that may start now, of these and of those that wait for slots (S15.1)."""
    memos = scheduler.memos
    return admission.admit(newly) if memos is None else memos.admit(newly, admission)


def _declared_order(firing: FiringId) -> tuple[int, int]:
    frame, index = firing
    return frame.number, index


def _sort(firings: list[FiringId]) -> None:
    """Sort firings by their declared order; in most cases they are in this order already."""
    last_number = last_index = -1
    for frame, index in firings:
        number = frame.number
        if number < last_number or (number == last_number and index < last_index):
            firings.sort(key=_declared_order)
            return
        last_number, last_index = number, index


class Pushing:
    """The part of the scheduler that propagates settled slots and ended scope instances."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def push(self, frame: Frame, slot: int) -> None:
        """Propagate a settled slot to everything that waits for it."""
        if frame.is_closing:
            return
        scheduler, plan, waits = self.scheduler, frame.plan, frame.waits
        token = frame.values[slot]
        has_dead_input = is_dead(token)
        for reader in plan.readers[slot]:
            if has_dead_input:
                frame.note_dead_input(reader)
            waits[reader] -= 1
            if not waits[reader]:
                scheduler.releasing.release(frame, reader)
        if plan.has_other_readers[slot]:
            self._propagate(frame, slot, token)
        if slot in plan.collects:
            scheduler.maps.collect(frame, slot, token)
        if frame.holders is not None:
            frame.let_go((slot,))

    def _propagate(self, frame: Frame, slot: int, token: Any) -> None:
        """Propagate a slot to readers other than nodes that wait for it."""
        scheduler, plan = self.scheduler, frame.plan
        if slot in plan.lazy:
            scheduler.pulling.settled(frame, slot)
        for join in plan.early.get(slot, ()):
            scheduler.releasing.consider(frame, plan.nodes[join], slot)
        if slot in plan.exports:
            self._export(frame, slot, token)
        if slot in frame.awaits:
            scheduler.opening.await_no_more(frame, (slot,))
        if slot == plan.test:
            scheduler.loops.tested(frame)

    def _export(self, frame: Frame, slot: int, token: Any) -> None:
        """Pass a value to the open scope instances inside that read it."""
        for owner, inner in frame.plan.exports[slot]:
            if owner in frame.opened:
                for child in frame.opened[owner].live.values():
                    if child.values[inner] is UNSETTLED:  # a child that has just opened has it already
                        self.scheduler.put(child, inner, token)

    def end(self, frame: Frame) -> None:
        """Continue the opener of a scope instance, once all nodes have settled and no more were demanded."""
        if frame.unsettled or frame.has_ended:
            return
        frame.has_ended = True
        scheduler = self.scheduler
        scheduler.timers.drop_of(frame)
        if frame.undemanded:
            scheduler.pulling.never_demanded(frame)
        if frame.parent is None:
            scheduler.has_ended = scheduler.live is None  # a session continues
            return
        owner = frame.parent.plan.nodes[frame.owner]
        opened = frame.parent.opened[frame.owner]
        opened.live.pop(frame.number, None)
        match opened:
            case OpenedMap():
                scheduler.maps.item_ended(frame, owner, opened)
            case OpenedLoop():
                scheduler.loops.round_ended(frame, owner, opened)
            case OpenedFlow():
                scheduler.nesting.ended(frame, owner)
            case _:
                assert_never(opened)
        frame.release()
