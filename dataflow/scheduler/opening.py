"""Opening: frames begin, and loops, maps and flow nodes open from a work list (S2.4)."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dataflow.compiler.plan import FlowOf, LoopOf, MapOf
from dataflow.core.states import UNSETTLED, WAITING
from dataflow.scheduler.frames import Frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataflow.compiler.plan import PlanNode, ScopePlan
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["AT_ONCE", "Opening"]

#: How many items of a map begin in one step of the work list.
AT_ONCE: Final = 100


class Opening:
    """The part of the scheduler that makes and begins frames."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self._frames = 1  # the root is frame 0
        self.due: deque[Callable[[], None]] = deque()  # steps that were noted

    def later(self, frame: Frame, node: PlanNode) -> None:
        """Note that a loop, map or flow node may open."""
        self.due.append(partial(self.open, frame, node))

    def open(self, frame: Frame, node: PlanNode) -> None:
        """Open a loop, map or flow node, unless it is known as a whole what it came to."""
        if frame.states[node.index] != WAITING:  # its frame was closed meanwhile
            return
        restoring = self.scheduler.restoring
        if restoring is not None and restoring.settle_opener(frame, node):
            return
        live = self.scheduler.live
        if live is not None and live.settle_opener(frame, node):
            return
        match node.action:
            case LoopOf():
                self.scheduler.loops.open(frame, node, node.action)
            case MapOf(is_every=True):
                self.scheduler.maps.arrivals.open(frame, node, node.action)
            case MapOf():
                self.scheduler.maps.open(frame, node, node.action)
            case FlowOf():
                self.scheduler.nesting.open(frame, node, node.action)
            case _:
                raise AssertionError("calls and joins open nothing")

    def do_later(self, step: Callable[[], None]) -> None:
        """Note any other step; it comes after what was noted before."""
        self.due.append(step)

    def new_frame(self, plan: ScopePlan, parent: Frame, owner: int, name: str | int) -> Frame:
        """Make a frame; `begin` starts it."""
        frame = Frame(plan, self._frames, parent.errors, parent, owner, name, self.scheduler.keep)
        self._frames += 1
        return frame

    def begin(self, frame: Frame, parameters: Iterable[tuple[int, Any]]) -> None:
        """Give a frame its parameters and what has settled outside, and release what waits for nothing."""
        plan, put = frame.plan, self.scheduler.put
        for index in plan.disabled:  # before anything could make them ready
            self.scheduler.releasing.disabled(frame, plan.nodes[index])
        for slot, token in parameters:
            put(frame, slot, token)
        if plan.begins_with_parameters and self.scheduler.restoring is None:
            return
        for outer, slot in plan.imports:
            assert frame.parent is not None, "only inner frames import"
            if (token := frame.parent.values[outer]) is not UNSETTLED:
                put(frame, slot, token)
            elif slot in plan.awaited or slot in plan.awaited_nexts:
                frame.note_awaited(slot)
        if plan.settled:
            self.scheduler.settle_again(frame, plan.settled)
        for index in plan.starts:
            self.scheduler.releasing.release(frame, index)
        if self.scheduler.restoring is not None and frame.undemanded:
            self.scheduler.pulling.demand(frame, self.scheduler.restoring.demanded_before(frame))
        if not frame.unsettled and len(plan.nodes) == len(plan.deferred):
            self.scheduler.has_emptied(frame)

    def await_no_more(self, frame: Frame, slots: Iterable[int]) -> None:
        """Note that values from outside have settled, or are no longer needed for the frame to end."""
        for slot in frame.awaits.intersection(slots):
            frame.awaits.discard(slot)
            frame.unsettled -= 1
            if not frame.unsettled:
                self.scheduler.has_emptied(frame)
