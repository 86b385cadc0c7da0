"""Flow nodes: a frame of the nested flow an attempt, and what leaves it (S7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.binding import argument
from dataflow.errors import NodeFailed
from dataflow.events import EventKind
from dataflow.frames import OpenedFlow
from dataflow.plan import FlowOf
from dataflow.states import RUNNING
from dataflow.tokens import Errored, Skip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.frames import Frame, Unhandled
    from dataflow.plan import PlanNode
    from dataflow.scheduler import Scheduler

__all__ = ["Nesting"]


class Nesting:
    """The part of the scheduler that opens and ends the frames of flow nodes."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def open(self, frame: Frame, node: PlanNode, action: FlowOf) -> None:
        """Open a frame of the nested flow, which begins with the values of the node's ports."""
        frame.states[node.index] = RUNNING
        self.scheduler.report(EventKind.NODE_STARTED, frame, node, type="flow", attempt=1)
        try:
            values = {slot: argument(frame, node, given) for slot, given in action.inputs.items()}
        except NodeFailed as error:
            self.scheduler.failing.failed(frame, node, error)
            return
        inner = self.scheduler.opening.new_frame(action.plan.root, frame, node.index, "")
        inner.errors = _errors_of(frame, action)
        opened = OpenedFlow({inner.number: inner}, [inner])
        frame.opened[node.index] = opened
        self.scheduler.opening.begin(inner, values)

    def ended(self, inner: Frame, node: PlanNode) -> None:
        """Settle the node when its frame has ended: failed, cancelled or with the outputs of the flow."""
        frame, action = inner.parent, node.action
        assert frame is not None, "the frame of a flow node is inside a frame"
        assert isinstance(action, FlowOf)
        unhandled = sorted(inner.failures)
        if inner.is_closing or (unhandled and not _are_collected(inner, action, unhandled)):
            self.scheduler.releasing.opener_ended(frame, node, unhandled)
            return
        for own, slot in action.results.items():
            self.scheduler.put(frame, own, self._left(frame, node, inner, slot))
        self.scheduler.releasing.opener_ended(frame, node, ())

    def _left(self, frame: Frame, node: PlanNode, inner: Frame, slot: int) -> Any:
        """Return what leaves the flow on a port."""
        match inner.values[slot]:
            case Skip() as cause:
                return Skip(frame.path_of(node), "the flow has left the output out", cause)
            case Errored() as error:
                policy = node.policy
                collects = policy is not None and policy.errors == "collect"
                return error.failure if collects else Errored(frame.path_of(node), error.failure, error)
            case _:
                return self.scheduler.take(inner, slot)


def _errors_of(frame: Frame, action: FlowOf) -> Any:
    """Tell what a failure does inside: the flow's own setting counts, else the run's (S9.4)."""
    if action.policy.errors == "collect":
        return "continue"
    return action.settings.errors or frame.errors


def _are_collected(inner: Frame, action: FlowOf, unhandled: Sequence[Unhandled]) -> bool:
    """Tell whether each failure stands in an output, so that none is lost (S7.3)."""
    if action.policy.errors != "collect":
        return False
    failed = {slot for slot in action.results.values() if isinstance(inner.values[slot], Errored)}
    return all(_reaches(inner, one.index, failed) for one in unhandled)


def _reaches(inner: Frame, index: int, failed: set[int]) -> bool:
    """Tell whether what a node gives leads to one of the outputs that failed."""
    plan = inner.plan
    todo, seen = [index], {index}
    while todo:
        for slot in plan.nodes[todo.pop()].outputs.values():
            if slot in failed:
                return True
            owners = [owner for owner, _ in plan.exports.get(slot, ())]
            for reader in {*plan.readers[slot], *plan.early.get(slot, ()), *owners} - seen:
                seen.add(reader)
                todo.append(reader)
    return False
