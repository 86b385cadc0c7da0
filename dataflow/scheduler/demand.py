"""Pull lazy ports, and withdraw the nodes that a race no longer needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.compiler.plan import JoinOf
from dataflow.core.events import EventKind
from dataflow.core.states import (
    CANCELLED,
    DONE,
    NOT_RUN,
    PAUSED,
    READY,
    RUNNING,
    SKIPPED,
    UNSETTLED,
    WAITING,
    Errored,
    NodeState,
    Skip,
    is_dead,
)
from dataflow.diagnostics.runs import RACE_FAILED
from dataflow.scheduler.firing_rule import first_value
from dataflow.scheduler.frames import OpenedMap, Unhandled
from dataflow.scheduler.reports import report_end

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from dataflow.compiler.plan import Feed, PlanNode, Uses
    from dataflow.scheduler.frames import Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Pulling", "Racing"]


class Pulling:
    """The part of the scheduler that demands lazy nodes."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def feeds(self, frame: Frame, node: PlanNode) -> Sequence[Feed]:
        """Return the ports that decide now whether a node fires; lazy ones follow once pulled."""
        if node.index in frame.pulling:
            return node.feeds
        return [feed for feed in node.feeds if not feed.is_lazy]

    def pull(self, frame: Frame, node: PlanNode) -> None:
        """Demand the lazy ports of a node whose other ports let it fire; their values release it."""
        lazy = dict.fromkeys(slot for feed in node.feeds if feed.is_lazy for slot in feed.slots)
        missing = [slot for slot in lazy if frame.values[slot] is UNSETTLED]
        frame.pulling[node.index] = set(missing)
        self.demand(frame, missing)
        if not missing:
            self.scheduler.releasing.release(frame, node.index)

    def settled(self, frame: Frame, slot: int) -> None:
        """Count down the nodes that have pulled a slot through a lazy port."""
        for reader in frame.plan.lazy[slot]:
            if is_dead(frame.values[slot]):
                frame.note_dead_input(reader)
            missing = frame.pulling.get(reader)
            if missing is not None and slot in missing:
                missing.remove(slot)
                if not missing:
                    self.scheduler.releasing.release(frame, reader)

    def demand(self, frame: Frame, slots: Iterable[int]) -> None:
        """Have the undemanded nodes run that these values come from."""
        live = self.scheduler.live
        others = None if live is None else live.freshness.pulled
        asked = list(_behind(frame, slots, others))
        for where, index in asked:  # all of them first, as one that settles now may demand further ones
            where.undemanded.discard(index)
            where.unsettled += 1
            where.waits[index] -= 1
        for where, index in asked:
            node = where.plan.nodes[index]
            if node.policy is not None and not node.policy.is_enabled:
                self.scheduler.releasing.disabled(where, node)
            elif isinstance(node.action, JoinOf) and where.waits[index] == 1 and _is_early(where, node):
                self.scheduler.releasing.consider(where, node)
            elif not where.waits[index]:
                self.scheduler.releasing.release(where, index)

    def never_demanded(self, frame: Frame) -> None:
        """Settle the nodes of an ended scope instance that were never demanded."""
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
    """Yield the undemanded nodes upstream of some values, also in enclosing scope instances.

    `others` is called with the demanded ones of the root.
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


class Racing:
    """The part of the scheduler that decides races."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def consider(self, frame: Frame, node: PlanNode, settled: int | None = None) -> None:
        """Decide a race by the slot that has just settled, or end it if no source can win any more."""
        if frame.states[node.index] != WAITING or node.index in frame.undemanded:
            return
        feed, path = node.feeds[0], frame.path_of(node)
        replay = self.scheduler.replay
        if replay is not None and (winner := replay.past.races.get(path)) in feed.labels:
            settled = feed.slots[feed.labels.index(winner)]
            if frame.values[settled] is UNSETTLED:
                return
        match first_value(feed.slots, frame.values, settled):
            case None:
                return
            case Skip() as cause:
                skip = Skip(path, "none of its sources has a value", cause)
                self.scheduler.releasing.settle_all(frame, node, skip, SKIPPED)
            case Errored():
                self._lost(frame, node)
            case slot:
                self._won(frame, node, slot)

    def _won(self, frame: Frame, node: PlanNode, winner: int) -> None:
        feed = node.feeds[0]
        label = feed.labels[feed.slots.index(winner)]
        self.scheduler.report(EventKind.RACE_DECIDED, frame, node, edge=label)
        for slot, loser in zip(feed.slots, feed.labels, strict=True):
            if isinstance(token := frame.values[slot], Errored):
                text = str(RACE_FAILED(loser, winner=label, reason=token.reason))
                self.scheduler.warn(frame.path_of(node), "outrun", text)
        self.scheduler.put(frame, node.outputs["out"], self.scheduler.take(frame, winner))
        self.scheduler.finish(frame, node, DONE)
        self.withdraw(frame, node, [slot for slot in feed.slots if slot != winner])

    def _lost(self, frame: Frame, node: PlanNode) -> None:
        """Settle a race without a winner in which sources have failed; their failures become its own."""
        slots = dict.fromkeys(node.feeds[0].slots)
        causes = [token for slot in slots if isinstance(token := frame.values[slot], Errored)]
        unhandled = {id(one): one for slot in slots for one in _taken_by(frame, slot)}
        self.scheduler.failing.race_lost(frame, node, causes, list(unhandled.values()))

    def withdraw(self, frame: Frame, race: PlanNode, slots: Sequence[int]) -> None:
        """Withdraw edges into a decided race, and stop the nodes that nothing else needs."""
        uses = frame.plan.uses
        assert uses is not None, "a scope with a race knows who uses what"
        frame.lost |= {(race.index, slot) for slot in slots}
        makers = [uses.makers[slot] for slot in slots if slot in uses.makers]
        live = self.scheduler.live
        wanted = live.freshness.wanted if live is not None and frame.parent is None else {}
        stopped = _no_longer_needed(frame, uses, makers, wanted, self._is_done)
        cause = Skip(frame.path_of(race), f"race lost at {frame.path_of(race)}")
        frame.withdrawn |= set(stopped)
        for index in stopped:
            self._stop(frame, frame.plan.nodes[index], cause)

    def _stop(self, frame: Frame, node: PlanNode, cause: Skip) -> None:
        """Settle a node as skipped: if it waits it never starts, if it runs it is cancelled."""
        frame.note_reason(node.index, cause)
        for slot in node.outputs.values():
            if frame.values[slot] is UNSETTLED:
                self.scheduler.put(frame, slot, cause)
        self.scheduler.repeating.give_up(frame, node)
        state = frame.states[node.index]
        if state == PAUSED:
            self.scheduler.asking.close(frame, node, cause.reason)
        if state == RUNNING:  # it ends once the running code has been cancelled
            self._cancel(frame, node, cause)
        else:
            never_began = state == WAITING or self._has_not_run(frame, node)
            self.scheduler.finish(frame, node, NOT_RUN if never_began else CANCELLED)

    def _is_done(self, frame: Frame, index: int) -> bool:
        """Return whether the journal records that a node was done before the race was decided."""
        replay = self.scheduler.replay
        if replay is None:
            return False
        return replay.past.state_of(frame.path_of(frame.plan.nodes[index])) is NodeState.DONE

    def _has_not_run(self, frame: Frame, node: PlanNode) -> bool:
        """Return whether the journal records that a node lost the race before it began."""
        replay = self.scheduler.replay
        return replay is not None and replay.past.state_of(frame.path_of(node)) is NodeState.NOT_RUN

    def _cancel(self, frame: Frame, node: PlanNode, cause: Skip) -> None:
        self.scheduler.to_act = True
        self.scheduler.stopped.append((frame, node.index))
        opened = frame.opened.get(node.index)
        if opened is None:
            return
        if isinstance(opened, OpenedMap):
            opened.is_closing = True
        for inner in list(opened.live.values()):
            self.scheduler.failing.close(inner, cause)
        self.scheduler.maps.arrivals.stop(frame, node.index)


def _no_longer_needed(
    frame: Frame,
    uses: Uses,
    makers: Sequence[int],
    wanted: Container[int],
    is_done: Callable[[Frame, int], bool],
) -> list[int]:
    """Return the nodes that lead only into withdrawn edges, in declared order.

    Those in `wanted` are demanded from outside; those that `is_done` accepts will settle from the journal.
    """
    found: set[int] = set()
    todo = list(makers)
    while todo:
        index = todo.pop()
        if (
            index in found
            or index in wanted
            or index in frame.withdrawn | frame.undemanded
            or frame.states[index] not in (WAITING, READY, RUNNING, PAUSED)
            or is_done(frame, index)
        ):
            continue
        slots = frame.plan.nodes[index].outputs.values()
        if any(slot in uses.held for slot in slots) or any(
            reader not in found and reader not in frame.withdrawn and (reader, slot) not in frame.lost
            for slot in slots
            for reader in uses.readers.get(slot, ())
        ):
            continue
        found.add(index)
        todo.extend(uses.makers[slot] for slot in uses.reads[index] if slot in uses.makers)
    return sorted(found)


def _taken_by(frame: Frame, slot: int) -> Sequence[Unhandled]:
    """Return the failures upstream of a slot that were left to this race, also in enclosing instances."""
    where: Frame | None = frame
    while where is not None:
        uses = where.plan.uses
        assert uses is not None, "a flow with a race knows who uses what"
        if slot in uses.makers:
            return where.taken.get(uses.makers[slot], ())
        outer = next((outer for outer, own in where.plan.imports if own == slot), None)
        if outer is None:
            break  # a parameter of the scope instance
        where, slot = where.parent, outer
    return ()
