"""Overtaking: a node of the root is stale before it has settled (S13.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.compiler.plan import Call
from dataflow.core.states import PAUSED, READY, RUNNING, Skip
from dataflow.scheduler.frames import OpenedMap

if TYPE_CHECKING:
    from dataflow.compiler.plan import PlanNode
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["overtake"]


def overtake(scheduler: Scheduler, node: PlanNode) -> bool:
    """Stop a node of the root; tells whether it has still to come to an end.

    What is pure is cancelled; an effect is not cut short, and what is about to fire is looked at before.
    """
    root, index = scheduler.root, node.index
    match root.states[index]:
        case state if state == RUNNING:
            _stop(scheduler, node)
            return True
        case state if state == READY and not _waits_to_repeat(scheduler, index):
            root.note_odd(index)
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
