"""Reports about nodes and ports: starts, ends, unhandled failures, unsettled ports (S8.4, S19)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.base.copies import own_copy
from dataflow.core.events import EventKind
from dataflow.core.states import DONE, FAILED, STATES, TIMED_OUT, UNSETTLED, Errored, Skip
from dataflow.scheduler.arguments import inputs_of

if TYPE_CHECKING:
    from dataflow.compiler.plan import PlanNode
    from dataflow.core.events import Reporter
    from dataflow.scheduler.frames import Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["failure_data", "pause_data", "report_end", "report_start", "report_value", "unsettled_ports"]

STARTED: Final = EventKind.NODE_STARTED
FINISHED: Final = EventKind.NODE_FINISHED
#: The names of the states in events.
TEXTS: Final = tuple(state.value for state in STATES)
DONE_TEXT: Final = TEXTS[DONE]


def report_start(reporter: Reporter, frame: Frame, index: int) -> None:
    """Report that an attempt at a call begins, with its inputs if a listener requested them."""
    node = frame.plan.nodes[index]
    call: Any = node.action  # only calls become ready
    data = {"type": call.type.id, "attempt": frame.attempt_of(index)}
    if reporter.includes_inputs:
        data["inputs"] = inputs_of(frame, node, call)
    reporter.emit(STARTED, frame.path_of(node), data)


def report_value(reporter: Reporter, frame: Frame, node: PlanNode, value: Any) -> None:
    """Report the end of a node whose only port has a value: the fast path of `report_end`."""
    data = {"state": DONE_TEXT, "ports": {"out": {"value": own_copy(value)}}, "metadata": {}}
    reporter.emit(FINISHED, frame.path_of(node), data)


def report_end(reporter: Reporter, frame: Frame, node: PlanNode, state: int) -> None:
    """Report that a node has ended, with the tokens of its ports; a join only settles its port."""
    if not node.is_visible:
        reporter.settled()
        return
    values, index = frame.values, node.index
    ports: dict[str, Any] = {}
    for port, slot in node.outputs.items():
        token: Any = values[slot]
        if type(token) is Skip:
            ports[port] = {"skip": token.reason}
        elif type(token) is Errored:
            ports[port] = {"error": token.failure}
        elif token is not UNSETTLED:
            ports[port] = {"value": own_copy(token)}
    metadata = own_copy(frame.metadata[index]) if index in frame.metadata else {}
    data: dict[str, Any] = {"state": TEXTS[state], "ports": ports, "metadata": metadata}
    if index in frame.reasons:
        reason = frame.reasons[index]
        data["reason"] = reason.reason
        if state in (FAILED, TIMED_OUT) and type(reason) is Errored:
            data["failure"] = reason.failure
    reporter.emit(FINISHED, frame.path_of(node), data)


def failure_data(scheduler: Scheduler) -> dict[str, list[str]]:
    """Return the paths of firings with unhandled failures as event data, empty if there are none."""
    paths = [one.failure.path for one in sorted(scheduler.root.failures)]
    return {"failures": paths} if paths else {}


def pause_data(scheduler: Scheduler) -> dict[str, Any]:
    """Return the event data of a run that pauses."""
    asks, times = [ask.id for ask in scheduler.asking.asks], scheduler.standing.times()
    data = {"asks": asks, "elapsed": scheduler.timing.elapsed, **failure_data(scheduler)}
    return {**data, "flow_times": times} if times else data


def unsettled_ports(frame: Frame) -> list[str]:
    """Return the names of the ports of a scope instance that have not settled (S8.4)."""
    plan = frame.plan
    demanded = (node for node in plan.nodes if node.index not in frame.undemanded)
    slots = (slot for node in demanded for slot in node.outputs.values())
    return [plan.names[slot] for slot in slots if frame.values[slot] is UNSETTLED]
