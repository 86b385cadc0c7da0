"""Pulling: lazy ports, and the nodes that run only if somebody asks for them (S8.1, S8.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.compiler.plan import JoinOf
from dataflow.core.states import NOT_RUN, UNSETTLED, Skip, is_dead
from dataflow.scheduler.reports import report_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from dataflow.compiler.plan import Feed, PlanNode
    from dataflow.scheduler.frames import Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Pulling"]


class Pulling:
    """The part of the scheduler that demands what was not demanded from the start."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def feeds(self, frame: Frame, node: PlanNode) -> Sequence[Feed]:
        """Return the ports by which it is told now whether a node fires: the lazy ones come last."""
        if node.index in frame.pulling:
            return node.feeds
        return [feed for feed in node.feeds if not feed.is_lazy]

    def pull(self, frame: Frame, node: PlanNode) -> None:
        """Demand the lazy ports of a node whose other ports let it fire; with their values it is released."""
        lazy = dict.fromkeys(slot for feed in node.feeds if feed.is_lazy for slot in feed.slots)
        missing = [slot for slot in lazy if frame.values[slot] is UNSETTLED]
        frame.pulling[node.index] = set(missing)
        self.demand(frame, missing)
        if not missing:
            self.scheduler.releasing.release(frame, node.index)

    def settled(self, frame: Frame, slot: int) -> None:
        """Tell the nodes that read a slot through a lazy port, those that have asked for it."""
        for reader in frame.plan.lazy[slot]:
            if is_dead(frame.values[slot]):
                frame.note_odd(reader)
            missing = frame.pulling.get(reader)
            if missing is not None and slot in missing:
                missing.remove(slot)
                if not missing:
                    self.scheduler.releasing.release(frame, reader)

    def demand(self, frame: Frame, slots: Iterable[int]) -> None:
        """Have the nodes run that these values come from, as far as they do not run anyway."""
        live = self.scheduler.live
        others = None if live is None else live.freshness.pulled
        for where, index in list(_behind(frame, slots, others)):
            where.undemanded.discard(index)
            where.unsettled += 1
            where.waits[index] -= 1
            node = where.plan.nodes[index]
            if node.policy is not None and not node.policy.is_enabled:
                self.scheduler.releasing.disabled(where, node)
            elif isinstance(node.action, JoinOf) and where.waits[index] == 1 and _is_early(where, node):
                self.scheduler.releasing.consider(where, node)
            elif not where.waits[index]:
                self.scheduler.releasing.release(where, index)

    def never_demanded(self, frame: Frame) -> None:
        """Bring the nodes of an ended frame to their end that nobody has asked for."""
        for index in sorted(frame.undemanded):
            node = frame.plan.nodes[index]
            frame.states[index] = NOT_RUN
            frame.note_reason(index, Skip(frame.path_of(node), "not demanded"))
            if self.scheduler.reporter.is_listening and node.is_visible:
                report_end(self.scheduler.reporter, frame, node, NOT_RUN)


def _is_early(frame: Frame, node: PlanNode) -> bool:
    return any(node.index in frame.plan.early.get(slot, ()) for slot in node.feeds[0].slots)


def _behind(
    frame: Frame, slots: Iterable[int], others: Callable[[int], None] | None
) -> Iterator[tuple[Frame, int]]:
    """Go through the nodes behind some values that nobody has asked for so far, also in frames around.

    `others` is told of those of the root that somebody has asked for.
    """
    todo = [(frame, slot) for slot in slots]
    seen: set[tuple[Frame, int]] = set()
    while todo:
        where, slot = todo.pop()
        uses = where.plan.uses
        assert uses is not None, "a flow with lazy ports knows who uses what"
        index = uses.makers.get(slot)
        if index is None:
            outer = next((outer for outer, own in where.plan.imports if own == slot), None)
            if outer is not None and where.parent is not None:
                todo.append((where.parent, outer))
        elif index in where.undemanded and not where.is_closing and (where, index) not in seen:
            seen.add((where, index))
            yield where, index
            todo += [(where, needed) for needed in uses.needs[index]]
        elif others is not None and where.parent is None:
            others(index)
