"""Track which nodes are stale after an update, and reset them."""

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


__all__ = ["Freshness", "Reset", "Stage", "supersede", "unsettle"]


class Stage(IntEnum):
    """How far a node of the root has come in the revision of now."""

    STALE = 0  # what it came to, if anything, is that of an earlier revision
    ACTIVE = 1  # it is to settle, and has not yet
    FRESH = 2  # it has settled
    LOST = 3  # only races that others have won needed it
    SUPERSEDED = 4  # by an update, while it ran or was about to; it is stale once it has ended


#: The same as numbers: looking up a member takes three times as long as comparing it.
STALE, ACTIVE, FRESH, LOST, SUPERSEDED = map(int, Stage)


#: Of a node that has to settle again if somebody waits for it.
SETTLE_AGAIN: Final = (STALE, LOST)


class Freshness:
    """The part of a live session that knows what is stale, and has what is wanted settle again.

    All of it are steps of the scheduler, which `advance` is to follow.
    """

    def __init__(
        self, scheduler: Scheduler, settled: Callable[[int], None], begins: Callable[[int], None]
    ) -> None:
        self.scheduler = scheduler
        self._settled = settled  # told of each node that has become fresh
        self.root = root = scheduler.root
        self.links = links_of(root.plan)
        self.stages = bytearray(len(root.plan.nodes))  # STALE
        self._activation = Reset(scheduler, begins)
        self.wanted: Counter[int] = Counter()  # nodes that somebody waits for
        self._again: set[int] = set()  # nodes that others wait for, which were overtaken when that was known
        root.states[:] = bytes([NOT_RUN]) * len(root.states)
        root.unsettled, root.has_ended = 0, True
        root.undemanded, root.lost, root.withdrawn = set(), set(), set()
        root.pulling, root.taken, root.digests = {}, {}, {}

    def is_fresh(self, index: int) -> bool:
        """Tell whether a node has come to what it comes to for the inputs of now."""
        return self.stages[index] == FRESH

    def is_superseded(self, index: int) -> bool:
        """Tell whether an update has made a node stale that has not ended."""
        return self.stages[index] == SUPERSEDED

    def is_unwanted(self, index: int) -> bool:
        """Tell whether a node that is about to end has been overtaken, or has lost its races."""
        return self.stages[index] == SUPERSEDED or index in self.root.withdrawn

    def change(self, slots: Iterable[int] = (), nodes: Iterable[int] = ()) -> None:
        """Let everything be stale that depends on slots whose values have changed, or on changed nodes."""
        stages, links, plan = self.stages, self.links, self.root.plan
        todo = [*nodes, *(index for slot in slots for index in links.readers.get(slot, ()))]
        while todo:
            index = todo.pop()
            stage = stages[index]
            if stage in (STALE, SUPERSEDED):  # what depends on it has been told
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
        """Take a node back that has not settled yet; what runs, or is about to, is overtaken and ends."""
        unsettle(self.root, node)  # some of a map may have settled early
        if supersede(self.scheduler, node):
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
        """Take a node back that was about to fire when it was overtaken."""
        self._deactivate(index)
        self._demand_later(index)
        if not self.root.unsettled:
            self.scheduler.has_emptied(self.root)

    def _demand_later(self, index: int) -> None:
        """Have what is wanted settle, also a node that was overtaken, once all that has settled is told.

        Only then it is known who waits for what. What waits for the node goes on in any case, as all does
        that was asked for once.
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
        """Note that a node of the root has come to its end."""
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
        """Have everything settle that somebody waits for (S8.1)."""
        root = self.root
        if root.is_closing:
            return
        if root.has_ended and root.undemanded:  # nobody has asked for these in the end
            for index in root.undemanded:
                self.stages[index] = STALE
            root.undemanded.clear()
        if not self.wanted and not self._again:
            return
        now, lazily = self._behind({*self.wanted, *self._again})
        for index in now & root.withdrawn:  # it lost a race, is being cancelled, and is to run again
            if self.stages[index] == ACTIVE:
                self.stages[index] = SUPERSEDED
                unsettle(root, root.plan.nodes[index])
        asked = now & root.undemanded
        new, deferred = self._stale_of(now), self._stale_of(lazily - now)
        for index in (*new, *deferred):
            self.stages[index] = ACTIVE
            self._again.discard(index)
        self._activation.activate(new, deferred)
        if asked:
            nodes = root.plan.nodes
            slots = [slot for index in sorted(asked) for slot in nodes[index].outputs.values()]
            root.has_ended = False
            self.scheduler.pulling.demand(root, slots)
        for index in new:
            self._activation.begin(root.plan.nodes[index])

    def _stale_of(self, nodes: set[int]) -> list[int]:
        """List those of some nodes that are to settle again, in declared order."""
        stages = self.stages
        return sorted(index for index in nodes if stages[index] in SETTLE_AGAIN)

    def pulled(self, index: int) -> None:
        """Have a node run that a lazy port has asked for, if it is stale, or overtaken and has ended."""
        if self.stages[index] in (STALE, LOST):
            self.scheduler.opening.do_later(self.demand)
        elif self.stages[index] != SUPERSEDED:
            return
        self._again.add(index)

    def _behind(self, nodes: Iterable[int]) -> tuple[set[int], set[int]]:
        """Find what is not fresh of some nodes and behind them: what has to run, and that with the lazy."""
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


class Reset:
    """Puts nodes of the root back, and has those begin that wait for nothing.

    `begins` is told of each node that is about to forget what it came to.
    """

    def __init__(self, scheduler: Scheduler, begins: Callable[[int], None]) -> None:
        self.scheduler = scheduler
        self.root = root = scheduler.root
        self._begins = begins
        self._awaited = [_awaited(node) for node in root.plan.nodes]
        self._early = frozenset(node.index for node in root.plan.nodes if _is_early(node))
        self._disabled = frozenset(node.index for node in root.plan.nodes if not _is_enabled(node))

    def activate(self, new: list[int], deferred: list[int]) -> None:
        """Put nodes where they stood before they settled; those that are deferred wait to be asked for."""
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
        """Forget what a node has come to."""
        root = self.root
        self._begins(index)
        root.states[index] = WAITING
        unsettle(root, root.plan.nodes[index])
        if index in root.attempts and (ends := root.attempts[index].ends) is not None:
            self.scheduler.timers.drop(ends)  # it bounds earlier attempts
        for by_node in kept:
            by_node.pop(index, None)
        root.withdrawn.discard(index)
        if root.lost:
            root.lost = {edge for edge in root.lost if edge[0] != index}
        if root.failures:
            root.failures = [one for one in root.failures if one.index != index]

    def _count(self, index: int) -> int:
        """Count what a node waits for, and note whether any of it is there and is no value."""
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
        """Release a node that waits for nothing, unless it is to be asked for first."""
        root, index = self.root, node.index
        if root.states[index] != WAITING or index in root.undemanded:
            return
        if index in self._early:
            self.scheduler.releasing.consider(root, node)
        elif not root.waits[index]:
            self.scheduler.releasing.release(root, index)


def _kept(root: Frame) -> Sequence[dict[int, Any]]:
    """List what is kept of nodes, by node."""
    return root.opened, root.reasons, root.attempts, root.metadata, root.memos, root.pulling, root.taken


def _awaited(node: PlanNode) -> tuple[tuple[int, bool], ...]:
    """List the slots that a node reads, each once, and whether it waits for them from the start."""
    found: dict[int, bool] = {}
    is_every = isinstance(node.action, MapOf) and node.action.is_every  # it begins before all have settled
    for feed in node.feeds:
        for slot in feed.slots:
            found[slot] = found.get(slot, False) or not (feed.is_lazy or is_every)
    return tuple(found.items())


def _is_enabled(node: PlanNode) -> bool:
    return node.policy is None or node.policy.is_enabled


def _is_early(node: PlanNode) -> bool:
    """Tell whether a join may settle before all its sources have."""
    return isinstance(node.action, JoinOf) and node.action.mode not in (Join.GATHER, Join.CONTEXTS)


def unsettle(root: Frame, node: PlanNode) -> None:
    """Take back what a node has settled its ports to."""
    for slot in node.outputs.values():
        root.values[slot] = UNSETTLED
        root.digests.pop(slot, None)


def supersede(scheduler: Scheduler, node: PlanNode) -> bool:
    """Stop a node of the root; tells whether it has still to come to an end.

    What is pure is cancelled; an effect is not cut short, and what is about to fire is looked at before.
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
    return isinstance(node.action, Call) and node.action.policy.effect is True
