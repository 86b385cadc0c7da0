"""Activating: nodes of a session's root stand again where they stood before they settled (S13.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.compiler.graph import Join
from dataflow.compiler.plan import JoinOf, MapOf
from dataflow.core.states import UNSETTLED, WAITING, is_dead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dataflow.compiler.plan import PlanNode
    from dataflow.scheduler.frames import Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Activation", "unsettle"]


class Activation:
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
            root.note_odd(index)
        elif root.odd:
            root.odd.discard(index)
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
