"""Track which nodes are stale after an update, and reset them to run again."""

from __future__ import annotations

from collections import Counter
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

from dataflow.compiler.graph import Join
from dataflow.compiler.plan import Call, JoinOf, MapOf, links_of
from dataflow.core.states import NOT_RUN, PAUSED, READY, RUNNING, UNSETTLED, WAITING, Skip, is_dead
from dataflow.scheduler.frames import OpenedMap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from dataflow.compiler.plan import PlanNode
    from dataflow.scheduler.frames import Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Freshness", "Stage"]


class Stage(IntEnum):
    """The progress of a node of the root in the current revision."""

    STALE = 0  # its outcome, if any, is of an earlier revision
    ACTIVE = 1  # demanded, and not settled yet
    FRESH = 2  # settled
    LOST = 3  # cancelled: only races with another winner needed it
    SUPERSEDED = 4  # invalidated by an update while running or about to run; stale once it has ended


#: The members as integers: looking up a member takes three times as long as comparing it.
STALE, ACTIVE, FRESH, LOST, SUPERSEDED = map(int, Stage)


#: Stages of nodes that run again if they are demanded.
SETTLE_AGAIN: Final = (STALE, LOST)


class Freshness:
    """The part of a live session that tracks stale nodes, and has demanded ones settle again.

    Each method is a step of the scheduler, which `advance` has to follow.
    """

    def __init__(
        self, scheduler: Scheduler, settled: Callable[[int], None], begins: Callable[[int], None]
    ) -> None:
        self.scheduler = scheduler
        self._settled = settled  # called with each node that has become fresh
        self.root = root = scheduler.root
        self.links = links_of(root.plan)
        self.stages = bytearray(len(root.plan.nodes))  # STALE
        self._reset = _Reset(scheduler, begins)
        self.wanted: Counter[int] = Counter()  # the number of waiters of each node
        self._again: set[int] = set()  # superseded nodes that active nodes wait for
        root.states[:] = bytes([NOT_RUN]) * len(root.states)
        root.unsettled, root.has_ended = 0, True
        root.undemanded, root.lost, root.withdrawn = set(), set(), set()
        root.pulling, root.taken, root.digests = {}, {}, {}

    def is_fresh(self, index: int) -> bool:
        """Return whether a node has its outcome for the current inputs."""
        return self.stages[index] == FRESH

    def is_superseded(self, index: int) -> bool:
        """Return whether an update has invalidated a node that has not ended."""
        return self.stages[index] == SUPERSEDED

    def is_unwanted(self, index: int) -> bool:
        """Return whether a node that is about to end is superseded, or was withdrawn by a race."""
        return self.stages[index] == SUPERSEDED or index in self.root.withdrawn

    def change(self, slots: Iterable[int] = (), nodes: Iterable[int] = ()) -> None:
        """Mark the transitive dependents of changed slots, and changed nodes with theirs, as stale."""
        stages, links, plan = self.stages, self.links, self.root.plan
        todo = [*nodes, *(index for slot in slots for index in links.readers.get(slot, ()))]
        while todo:
            index = todo.pop()
            stage = stages[index]
            if stage in (STALE, SUPERSEDED):  # its dependents are marked already
                continue
            if stage == ACTIVE:
                self._supersede(plan.nodes[index])
            else:
                stages[index] = STALE
            for slot in plan.nodes[index].outputs.values():
                todo.extend(links.readers.get(slot, ()))
        if not self.root.unsettled and not self.root.has_ended:
            self.scheduler.has_emptied(self.root)

    def _supersede(self, node: PlanNode) -> None:
        """Take back a node that has not settled; one that is running, or about to, is superseded and ends."""
        _unsettle(self.root, node)  # a map may have settled some ports early
        if _supersede(self.scheduler, node):
            self.stages[node.index] = SUPERSEDED
        else:
            self._deactivate(node.index)

    def _deactivate(self, index: int) -> None:
        self.stages[index] = STALE
        self.root.states[index] = NOT_RUN
        if index in self.root.undemanded:
            self.root.undemanded.discard(index)
        else:
            self.root.unsettled -= 1

    def take_back(self, index: int) -> None:
        """Take back a superseded node that was about to fire."""
        self._deactivate(index)
        self._demand_later(index)
        if not self.root.unsettled:
            self.scheduler.has_emptied(self.root)

    def _demand_later(self, index: int) -> None:
        """Have demanded nodes settle once all settled ports are propagated; also this one, if waited for.

        Only then the waiting nodes are known. An active reader of the node continues in any case, as
        everything does that was demanded once.
        """
        if any(self._waits_for(reader, slot) for slot, reader in self._readers_of(index)):
            self._again.add(index)
        self.scheduler.opening.do_later(self.demand)

    def _readers_of(self, index: int) -> Iterator[tuple[int, int]]:
        for slot in self.root.plan.nodes[index].outputs.values():
            for reader in self.links.readers.get(slot, ()):
                yield slot, reader

    def _waits_for(self, reader: int, slot: int) -> bool:
        is_active = self.stages[reader] == ACTIVE and reader not in self.root.undemanded
        return is_active and slot in self.links.needs[reader]

    def finished(self, index: int) -> None:
        """Note that a node of the root has ended."""
        root, stages = self.root, self.stages
        if stages[index] == SUPERSEDED:
            root.withdrawn.discard(index)
            root.states[index] = NOT_RUN
            stages[index] = STALE
            self._demand_later(index)
        elif index in root.withdrawn:
            stages[index] = LOST
        else:
            stages[index] = FRESH
            self._settled(index)

    def demand(self) -> None:
        """Have the nodes settle that have waiters (S8.1)."""
        root = self.root
        if root.is_closing:
            return
        if root.has_ended and root.undemanded:  # these were not demanded in the end
            for index in root.undemanded:
                self.stages[index] = STALE
            root.undemanded.clear()
        if not self.wanted and not self._again:
            return
        now, lazily = self._behind({*self.wanted, *self._again})
        for index in now & root.withdrawn:  # withdrawn by a race, being cancelled, and to run again
            if self.stages[index] == ACTIVE:
                self.stages[index] = SUPERSEDED
                _unsettle(root, root.plan.nodes[index])
        asked = now & root.undemanded
        new, deferred = self._stale_of(now), self._stale_of(lazily - now)
        for index in (*new, *deferred):
            self.stages[index] = ACTIVE
            self._again.discard(index)
        self._reset.activate(new, deferred)
        if asked:
            nodes = root.plan.nodes
            slots = [slot for index in sorted(asked) for slot in nodes[index].outputs.values()]
            root.has_ended = False
            self.scheduler.pulling.demand(root, slots)
        for index in new:
            self._reset.begin(root.plan.nodes[index])

    def _stale_of(self, nodes: set[int]) -> list[int]:
        """Return those of the nodes that run again, in declared order."""
        stages = self.stages
        return sorted(index for index in nodes if stages[index] in SETTLE_AGAIN)

    def pulled(self, index: int) -> None:
        """Have a node run that a lazy port demands, if it is stale, or superseded and ended."""
        if self.stages[index] in (STALE, LOST):
            self.scheduler.opening.do_later(self.demand)
        elif self.stages[index] != SUPERSEDED:
            return
        self._again.add(index)

    def _behind(self, nodes: Iterable[int]) -> tuple[set[int], set[int]]:
        """Find the nodes upstream of some that are not fresh: those that run now, and with lazy ones."""
        now = self._spread(nodes, self.links.needs)
        return now, self._spread(now, self.links.reads) if self.links.has_lazy else now

    def _spread(self, nodes: Iterable[int], read: tuple[tuple[int, ...], ...]) -> set[int]:
        makers, stages, found = self.links.makers, self.stages, set[int]()
        todo = list(nodes)
        while todo:
            index = todo.pop()
            if index not in found and stages[index] != FRESH:
                found.add(index)
                todo += [makers[slot] for slot in read[index] if slot in makers]
        return found


class _Reset:
    """Resets nodes of the root, and starts those that wait for nothing.

    `begins` is called with each node before its outcome is removed.
    """

    def __init__(self, scheduler: Scheduler, begins: Callable[[int], None]) -> None:
        self.scheduler = scheduler
        self.root = root = scheduler.root
        self._begins = begins
        self._awaited = [_awaited(node) for node in root.plan.nodes]
        self._early = frozenset(node.index for node in root.plan.nodes if _is_early(node))
        self._disabled = frozenset(node.index for node in root.plan.nodes if not _is_enabled(node))

    def activate(self, new: list[int], deferred: list[int]) -> None:
        """Reset nodes to their state before they settled; deferred ones wait to be demanded."""
        root, nodes = self.root, self.root.plan.nodes
        kept = [each for each in _kept(root) if each]
        for index in (*new, *deferred):
            self._reset(index, kept)
        root.undemanded.update(deferred)
        root.unsettled += len(new)
        root.has_ended = root.has_ended and not new
        for index in new:
            root.waits[index] = self._count(index)
        for index in deferred:
            root.waits[index] = self._count(index) + 1
        for index in self._disabled.intersection(new):  # before anything could make them ready
            self.scheduler.releasing.disabled(root, nodes[index])

    def _reset(self, index: int, kept: Iterable[dict[int, Any]]) -> None:
        """Remove the outcome of a node."""
        root = self.root
        self._begins(index)
        root.states[index] = WAITING
        _unsettle(root, root.plan.nodes[index])
        if index in root.attempts and (ends := root.attempts[index].ends) is not None:
            self.scheduler.timers.drop(ends)  # it limits earlier attempts
        for by_node in kept:
            by_node.pop(index, None)
        root.withdrawn.discard(index)
        if root.lost:
            root.lost = {edge for edge in root.lost if edge[0] != index}
        if root.failures:
            root.failures = [one for one in root.failures if one.index != index]

    def _count(self, index: int) -> int:
        """Count the slots that a node waits for, and note whether another holds a skip or an error."""
        root, waits, is_odd = self.root, 0, False
        values = root.values
        for slot, is_waited_for in self._awaited[index]:
            token = values[slot]
            if token is UNSETTLED:
                waits += is_waited_for
            elif is_dead(token):
                is_odd = True
        if is_odd:
            root.note_dead_input(index)
        elif root.dead_inputs:
            root.dead_inputs.discard(index)
        return 1 if index in self._early else waits

    def begin(self, node: PlanNode) -> None:
        """Release a node that waits for nothing, unless it has to be demanded first."""
        root, index = self.root, node.index
        if root.states[index] != WAITING or index in root.undemanded:
            return
        if index in self._early:
            self.scheduler.releasing.consider(root, node)
        elif not root.waits[index]:
            self.scheduler.releasing.release(root, index)


def _kept(root: Frame) -> Sequence[dict[int, Any]]:
    """Return the tables of the root with an entry for each node."""
    return root.opened, root.reasons, root.attempts, root.metadata, root.memos, root.pulling, root.taken


def _awaited(node: PlanNode) -> tuple[tuple[int, bool], ...]:
    """Return the slots that a node reads, each once, and whether it waits for them from the start."""
    found: dict[int, bool] = {}
    is_every = isinstance(node.action, MapOf) and node.action.is_every  # it begins before all have settled
    for feed in node.feeds:
        for slot in feed.slots:
            found[slot] = found.get(slot, False) or not (feed.is_lazy or is_every)
    return tuple(found.items())


def _is_enabled(node: PlanNode) -> bool:
    return node.policy is None or node.policy.is_enabled


def _is_early(node: PlanNode) -> bool:
    """Return whether a join may settle before all its sources have."""
    return isinstance(node.action, JoinOf) and node.action.mode not in (Join.GATHER, Join.CONTEXTS)


def _unsettle(root: Frame, node: PlanNode) -> None:
    """Remove the tokens and content hashes of a node's ports."""
    for slot in node.outputs.values():
        root.values[slot] = UNSETTLED
        root.digests.pop(slot, None)


def _supersede(scheduler: Scheduler, node: PlanNode) -> bool:
    """Stop a node of the root; return whether it has yet to end.

    A node without effects is cancelled; one with effects runs to its end. A node that is about to fire is
    checked before it does.
    """
    root, index = scheduler.root, node.index
    match root.states[index]:
        case state if state == RUNNING:
            _stop(scheduler, node)
            return True
        case state if state == READY and not _waits_to_repeat(scheduler, index):
            root.note_dead_input(index)
            return True
        case state if state == READY:
            scheduler.repeating.give_up(root, node)
        case state if state == PAUSED:
            scheduler.asking.close(root, node, "what it shows has changed")
        case _:
            pass
    return False


def _waits_to_repeat(scheduler: Scheduler, index: int) -> bool:
    attempts = scheduler.root.attempts.get(index)
    return attempts is not None and attempts.waits in scheduler.timers


def _stop(scheduler: Scheduler, node: PlanNode) -> None:
    root = scheduler.root
    others, scheduler.stopped = scheduler.stopped, []
    if not isinstance(node.action, Call):
        root.withdrawn.add(node.index)
        opened = root.opened[node.index]
        if isinstance(opened, OpenedMap):
            opened.is_closing = True
        cause = Skip(root.path_of(node), "its inputs have changed")
        for inner in list(opened.live.values()):
            scheduler.failing.close(inner, cause)
        scheduler.maps.arrivals.stop(root, node.index)
    elif not _has_effect(node):
        root.withdrawn.add(node.index)
        scheduler.to_act = True
        scheduler.stopped.append((root, node.index))
    pure = [one for one in scheduler.stopped if not _has_effect(one[0].plan.nodes[one[1]])]
    scheduler.stopped = others + pure


def _has_effect(node: PlanNode) -> bool:
    return isinstance(node.action, Call) and node.action.policy.has_effect
