"""Pushing: what has settled is told to whoever waits for it, what has ended to whoever opened it (S8.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from dataflow.core.states import UNSETTLED, is_dead
from dataflow.scheduler.frames import OpenedFlow, OpenedLoop, OpenedMap

if TYPE_CHECKING:
    from dataflow.scheduler.frames import Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Pushing"]


class Pushing:
    """The part of the scheduler that passes on that a port has settled or a frame has ended."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def push(self, frame: Frame, slot: int) -> None:
        """Tell everybody who waits for a slot that it has settled."""
        if frame.is_closing:
            return
        scheduler, plan, waits = self.scheduler, frame.plan, frame.waits
        token = frame.values[slot]
        is_odd = is_dead(token)
        for reader in plan.readers[slot]:
            if is_odd:
                frame.note_odd(reader)
            waits[reader] -= 1
            if not waits[reader]:
                scheduler.releasing.release(frame, reader)
        if plan.is_told[slot]:
            self._tell(frame, slot, token)
        if slot in plan.collects:
            scheduler.maps.collect(frame, slot, token)
        if frame.holders is not None:
            frame.let_go((slot,))

    def _tell(self, frame: Frame, slot: int, token: Any) -> None:
        """Tell those who hear of a slot apart from the nodes that wait for it."""
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
        """Hand a value on to the open frames inside that read it."""
        for owner, inner in frame.plan.exports[slot]:
            if owner in frame.opened:
                for child in frame.opened[owner].live.values():
                    if child.values[inner] is UNSETTLED:  # a child that has just opened has it already
                        self.scheduler.put(child, inner, token)

    def end(self, frame: Frame) -> None:
        """Let what opened a frame go on, once all of it has settled and no more was demanded since."""
        if frame.unsettled or frame.has_ended:
            return
        frame.has_ended = True
        scheduler = self.scheduler
        scheduler.timers.drop_of(frame)
        if frame.undemanded:
            scheduler.pulling.never_demanded(frame)
        if frame.parent is None:
            scheduler.has_ended = scheduler.live is None  # a session goes on
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
