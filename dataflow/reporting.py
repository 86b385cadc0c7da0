"""What is told of nodes and ports: a node's end in an event, ports that never settled (S8.4, S19)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.binding import inputs_of
from dataflow.events import EventKind
from dataflow.plan import Call
from dataflow.separation import separate
from dataflow.states import STATES
from dataflow.tokens import UNSETTLED, Errored, Skip

if TYPE_CHECKING:
    from dataflow.events import Reporter
    from dataflow.frames import Frame
    from dataflow.plan import PlanNode

__all__ = ["report_end", "report_start", "unsettled_ports"]


def report_start(reporter: Reporter, frame: Frame, index: int) -> None:
    """Report that an attempt at a call begins, with what it is given for who asks."""
    node = frame.plan.nodes[index]
    call = node.action
    assert isinstance(call, Call), "only calls become ready"
    data: dict[str, Any] = {"type": call.type.id, "attempt": frame.attempt_of(index)}
    if reporter.tells_inputs:
        data["inputs"] = inputs_of(frame, node, call)
    reporter.emit(EventKind.NODE_STARTED, frame.path_of(node), data)


def report_end(reporter: Reporter, frame: Frame, node: PlanNode, state: int) -> None:
    """Report that a node has come to its end, with what its ports hold; a join only settles its port."""
    if not node.is_visible:
        reporter.settled()
        return
    tokens = {port: frame.values[slot] for port, slot in node.outputs.items()}
    ports = {port: _told(token) for port, token in tokens.items() if token is not UNSETTLED}
    data: dict[str, Any] = {"state": STATES[state].value, "ports": ports}
    data["metadata"] = separate(frame.metadata.get(node.index, {}))
    reason = frame.reasons.get(node.index)
    if reason is not None:
        data["reason"] = reason.reason
    reporter.emit(EventKind.NODE_FINISHED, frame.path_of(node), data)


def unsettled_ports(frame: Frame) -> list[str]:
    """List the ports of a frame that have not settled (S8.4)."""
    plan = frame.plan
    demanded = (node for node in plan.nodes if node.index not in frame.undemanded)
    slots = (slot for node in demanded for slot in node.outputs.values())
    return [plan.names[slot] for slot in slots if frame.values[slot] is UNSETTLED]


def _told(token: Any) -> dict[str, Any]:
    match token:
        case Skip(reason=reason):
            return {"skip": reason}
        case Errored(failure=failure):
            return {"error": failure}
        case _:
            return {"value": separate(token)}
