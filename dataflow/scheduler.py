"""The scheduler: what may fire next. Pure and synchronous; nothing in it awaits (S2 to S9).

The engine calls it with the outcome of a firing and gets the firings that this made ready. A work list
carries what has settled, so that a long dead path needs no recursion.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, TypeAlias

from dataflow.errors import NodeFailed
from dataflow.events import EventKind
from dataflow.failure import Failure, failure_of
from dataflow.frames import Frame, OpenedLoop, OpenedMap
from dataflow.graph import Join
from dataflow.loops import Loops
from dataflow.maps import Maps
from dataflow.outcome import outputs_of
from dataflow.plan import Call, JoinOf, LoopOf, MapOf
from dataflow.ports import DONE as DONE_PORT
from dataflow.ports import ERROR as ERROR_PORT
from dataflow.ports import MISSING, SKIP, Signal
from dataflow.readiness import Conflict, Fires, Poisoned, Skipped, decide, first_live, live_values
from dataflow.separation import separate
from dataflow.states import CANCELLED, DONE, FAILED, NOT_RUN, READY, SKIPPED, STATES, WAITING
from dataflow.tokens import DEAD, UNSETTLED, Errored, Skip

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.events import Reporter
    from dataflow.plan import FlowPlan, PlanNode, ScopePlan
    from dataflow.policy import Errors

__all__ = ["Firing", "Scheduler"]

#: A firing: the frame it is in and the number of its node.
Firing: TypeAlias = "tuple[Frame, int]"


class Scheduler:
    """The state of one run and the rules that move it on."""

    def __init__(self, plan: FlowPlan, errors: Errors, reporter: Reporter) -> None:
        self.plan = plan
        self.errors = errors
        self.reporter = reporter
        self.root = Frame(plan.root, 0)
        self.has_ended = False
        self.to_cancel = False  # frames were closed since the engine last looked
        self.failures: list[tuple[Failure, BaseException]] = []
        self.warnings: list[str] = []
        self._frames = 1
        self._loops = Loops(self)
        self._maps = Maps(self)
        self._newly: list[Firing] = []
        self._settled: deque[tuple[Frame, int]] = deque()
        self._failing: deque[tuple[Frame, Errored]] = deque()
        self._ended: deque[Frame] = deque()

    # what the engine calls

    def start(self, inputs: Mapping[str, Any]) -> list[Firing]:
        """Open the root frame; returns the firings to begin with, in declared order (S14.2)."""
        slots = self.plan.root.parameters
        self.begin(self.root, {slots[name]: value for name, value in inputs.items()})
        return self._advance()

    def succeed(self, frame: Frame, index: int, result: Any) -> list[Firing]:
        """Settle a firing that returned; returns the newly ready ones (S3.2)."""
        node = frame.plan.nodes[index]
        assert isinstance(node.action, Call), "only calls are fired by the engine"
        try:
            outputs = outputs_of(node.id, node.action.type, result)
        except NodeFailed as error:
            return self.fail(frame, index, error)
        if node.action.is_branch:
            self.report(EventKind.BRANCH_EVALUATED, frame, node, matched=next(iter(outputs), None))
        for port, slot in node.outputs.items():
            if port == DONE_PORT:
                self.put(frame, slot, Signal())
                continue
            value = outputs.get(port, SKIP)
            if value is SKIP:
                value = self._left_out(frame, node, port)
            self.put(frame, slot, value)
        self.finish(frame, node, DONE)
        return self._advance()

    def fail(self, frame: Frame, index: int, error: BaseException) -> list[Firing]:
        """Settle a firing that raised; returns the newly ready ones (S9.3, S9.4)."""
        self.failed(frame, frame.plan.nodes[index], error)
        return self._advance()

    def cancelled(self, frame: Frame, index: int) -> list[Firing]:
        """Settle a firing that was cancelled, since its frame was closed."""
        self.finish(frame, frame.plan.nodes[index], CANCELLED)
        return self._advance()

    def abort(self, reason: str) -> None:
        """Close the whole run: what waits is not run, what runs is to be cancelled (S9.6)."""
        if not self.has_ended:
            self.close(self.root, Skip("", reason))
            self._advance()

    def unsettled(self) -> list[str]:
        """List the demanded ports of the root that have not settled (S8.4)."""
        plan, values = self.plan.root, self.root.values
        return [
            plan.names[slot] for node in plan.nodes for slot in node.outputs.values() if values[slot] is UNSETTLED
        ]

    # frames

    def new_frame(self, plan: ScopePlan, parent: Frame, owner: int, name: str) -> Frame:
        """Make a frame; `begin` starts it."""
        frame = Frame(plan, self._frames, parent, owner, name)
        self._frames += 1
        return frame

    def begin(self, frame: Frame, parameters: Mapping[int, Any]) -> None:
        """Give a frame its parameters and what has settled outside, and release what waits for nothing."""
        plan, values = frame.plan, frame.values
        for slot, token in parameters.items():
            values[slot] = token
            self._settled.append((frame, slot))
        for outer, slot in plan.imports:
            assert frame.parent is not None, "only inner frames import"
            token = frame.parent.values[outer]
            if token is not UNSETTLED:
                values[slot] = token
                self._settled.append((frame, slot))
        self._settled.extend((frame, slot) for slot in plan.settled)
        for node in plan.nodes:
            if isinstance(node.action, Call) and not node.action.policy.is_enabled:
                self._skip(frame, node, Skip(frame.path_of(node), "disabled"))
        for index in plan.starts:
            self._release(frame, index)
        if not plan.nodes:
            self._ended.append(frame)

    def close(self, frame: Frame, cause: Skip | Errored) -> None:
        """Stop a frame and all inside it: nothing more starts; running firings are to be cancelled."""
        todo = [frame]
        while todo:
            closing = todo.pop()
            if closing.is_closing:
                continue
            closing.is_closing = True
            self.to_cancel = True
            for node in closing.plan.nodes:
                state = closing.states[node.index]
                if state in (WAITING, READY):  # what was about to start is cancelled, the rest never ran
                    closing.reasons[node.index] = cause
                    self.finish(closing, node, NOT_RUN if state == WAITING else CANCELLED)
            for opened in closing.opened.values():
                todo.extend(opened.live.values())

    # settling

    def put(self, frame: Frame, slot: int, token: Any) -> None:
        """Settle a port; each settles once (S3.1)."""
        if frame.values:
            frame.values[slot] = token
            self._settled.append((frame, slot))

    def take(self, frame: Frame, slot: int) -> Any:
        """Return a value for one reader: its own copy if others hold it too (S3.4)."""
        value = frame.values[slot]
        return separate(value) if frame.plan.shared[slot] else value

    def finish(self, frame: Frame, node: PlanNode, state: int) -> None:
        """Bring a node to its end."""
        frame.states[node.index] = state
        frame.unsettled -= 1
        if not frame.unsettled:
            self._ended.append(frame)
        if self.reporter.is_listening and node.is_visible:
            self._report_end(frame, node, state)

    def failed(self, frame: Frame, node: PlanNode, error: BaseException) -> None:
        """Handle the failure of a node as its settings say (S9.3)."""
        failure = failure_of(error, node.id, frame.path_of(node), 1)
        policy = node.action.policy if isinstance(node.action, Call) else None
        frame.reasons[node.index] = Errored(failure.path, failure)
        handled: dict[str, Any] | None = None
        if policy is not None and policy.default is not MISSING:
            handled = {"out": policy.default}
        elif policy is not None and policy.on_error == "skip":
            handled = {}
        elif ERROR_PORT in node.outputs or (policy is not None and policy.on_error == "route"):
            handled = {ERROR_PORT: failure}
        if handled is None or frame.is_closing:
            self.failures.append((failure, error))
            self.broken(frame, node, failure)
            return
        skip = Skip(failure.path, "failed, and the failure is handled", Errored(failure.path, failure))
        for port, slot in node.outputs.items():
            self.put(frame, slot, handled.get(port, skip))
        self.finish(frame, node, FAILED)

    def broken(self, frame: Frame, node: PlanNode, failure: Failure) -> None:
        """Fail the frame of a node whose failure nothing handled (S9.4)."""
        cause = Errored(frame.path_of(node), failure)
        frame.reasons.setdefault(node.index, cause)
        frame.error = frame.error or failure
        if not frame.is_closing:
            for slot in node.outputs.values():
                if frame.values[slot] is UNSETTLED:
                    self.put(frame, slot, cause)
        self.finish(frame, node, FAILED)
        if self.errors == "fail_fast":
            self._failing.append((frame, cause))

    def _advance(self) -> list[Firing]:
        """Work off what has settled and ended; returns what became ready, in declared order.

        A failed frame is closed only when all that had settled is told, so that what depends on the
        failure names it as its reason.
        """
        settled, failing, ended = self._settled, self._failing, self._ended
        while True:
            if settled:
                self._push(*settled.popleft())
            elif failing:
                self.close(*failing.popleft())
            elif ended:
                self._end_frame(ended.popleft())
            else:
                break
        newly, self._newly = self._newly, []
        if len(newly) > 1:
            newly.sort(key=_declared_order)
        return newly

    def test_failed(self, frame: Frame, node: PlanNode, body: Frame, error: BaseException) -> None:
        """Fail the round whose test raised; the loop fails with it (S6.1)."""
        failure = failure_of(error, node.id, frame.path_of(node), 1)
        self.failures.append((failure, error))
        body.error = body.error or failure
        if self.errors == "fail_fast":
            self._failing.append((body, Errored(failure.path, failure)))

    def _push(self, frame: Frame, slot: int) -> None:
        """Tell everybody who waits for a slot that it has settled."""
        if frame.is_closing:
            return
        plan, waits = frame.plan, frame.waits
        token = frame.values[slot]
        is_dead = token.__class__ in DEAD
        for reader in plan.readers[slot]:
            if is_dead:
                frame.odd.add(reader)
            waits[reader] -= 1
            if not waits[reader]:
                self._release(frame, reader)
        for join in plan.early.get(slot, ()):
            self._consider(frame, plan.nodes[join])
        for owner, inner in plan.exports.get(slot, ()):
            if owner in frame.opened:
                for child in frame.opened[owner].live.values():
                    self.put(child, inner, token)
        if slot in plan.collects:
            self._maps.collect(frame, slot)
        if slot == plan.test:
            self._loops.tested(frame)

    def _release(self, frame: Frame, index: int) -> None:
        """Decide about a node all of whose inputs have settled (S4)."""
        if frame.states[index] != WAITING:
            return
        node = frame.plan.nodes[index]
        if node.is_plain and index not in frame.odd:
            self._fire(frame, node)
            return
        match decide(node.feeds, frame.values):
            case Fires():
                self._fire(frame, node)
            case Poisoned(port, cause):
                self._settle_all(frame, node, Errored(frame.path_of(node), cause.failure, cause), NOT_RUN)
            case Skipped(port, cause, live, dead):
                path = frame.path_of(node)
                if live and node.is_visible:
                    self.warn("join_unreleased", f"{path} is skipped: no value came on {', '.join(dead)}, "
                              f"though one came on {', '.join(live)}", frame, node)
                self._skip(frame, node, Skip(path, f"port {port!r} has no value", cause))
            case Conflict(port, edges):
                error = NodeFailed(node.id, f"got a value from {' and from '.join(edges)} on its port {port!r}, which takes one")
                self.failed(frame, node, error)

    def _fire(self, frame: Frame, node: PlanNode) -> None:
        match node.action:
            case Call():
                frame.states[node.index] = READY
                self._newly.append((frame, node.index))
            case JoinOf():
                self._gather(frame, node)
            case LoopOf():
                self._loops.open(frame, node, node.action)
            case MapOf():
                self._maps.open(frame, node, node.action)

    def _gather(self, frame: Frame, node: PlanNode) -> None:
        values = [self.take(frame, slot) for slot in live_values(node.feeds[0].slots, frame.values)]
        self.put(frame, node.outputs["out"], values)
        self.finish(frame, node, DONE)

    def _consider(self, frame: Frame, node: PlanNode) -> None:
        """Settle a merge or fallback as soon as its first live source is known (S5.3)."""
        if frame.states[node.index] != WAITING:
            return
        match first_live(node.feeds[0].slots, frame.values):
            case None:
                return
            case Skip() as cause:
                self._skip(frame, node, Skip(node.id, "none of its sources has a value", cause))
            case slot:
                self.put(frame, node.outputs["out"], self.take(frame, slot))
                self.finish(frame, node, DONE)

    def _skip(self, frame: Frame, node: PlanNode, skip: Skip) -> None:
        self._settle_all(frame, node, skip, SKIPPED)

    def _settle_all(self, frame: Frame, node: PlanNode, token: Skip | Errored, state: int) -> None:
        frame.reasons[node.index] = token
        for slot in node.outputs.values():
            self.put(frame, slot, token)
        self.finish(frame, node, state)

    def _left_out(self, frame: Frame, node: PlanNode, port: str) -> Skip:
        path = frame.path_of(node)
        if port == ERROR_PORT:
            return Skip(path, "succeeded, so there is no failure")
        assert isinstance(node.action, Call)
        exit_or_port = f"exit {port!r} not taken" if node.action.is_branch else f"port {port!r} not emitted"
        return Skip(path, exit_or_port)

    def _end_frame(self, frame: Frame) -> None:
        """A frame has settled: what opened it goes on."""
        if frame.parent is None:
            self.has_ended = True
            return
        owner = frame.parent.plan.nodes[frame.owner]
        opened = frame.parent.opened[frame.owner]
        opened.live.pop(frame.number, None)
        match opened:
            case OpenedLoop():
                self._loops.round_ended(frame, owner, opened)
            case OpenedMap():
                self._maps.item_ended(frame, owner, opened)
        frame.release()

    def opener_ended(self, frame: Frame, node: PlanNode, failure: Failure | None) -> None:
        """Settle a loop or map whose frames have all ended: as failed, as cancelled or as done."""
        if failure is not None:
            self.broken(frame, node, failure)
        elif frame.is_closing:
            self.finish(frame, node, CANCELLED)
        else:
            if DONE_PORT in node.outputs:
                self.put(frame, node.outputs[DONE_PORT], Signal())
            if ERROR_PORT in node.outputs:
                self.put(frame, node.outputs[ERROR_PORT], self._left_out(frame, node, ERROR_PORT))
            self.finish(frame, node, DONE)

    # reporting

    def report(self, kind: EventKind, frame: Frame, node: PlanNode, **data: Any) -> None:
        """Report a fact about a node, if anybody listens."""
        if self.reporter.is_listening:
            self.reporter.emit(kind, frame.path_of(node), data)

    def warn(self, code: str, text: str, frame: Frame, node: PlanNode) -> None:
        """Warn in the result, and in the events if anybody listens."""
        self.warnings.append(text)
        self.report(EventKind.WARNING, frame, node, code=code, text=text)

    def _report_end(self, frame: Frame, node: PlanNode, state: int) -> None:
        ports: dict[str, Any] = {}
        for port, slot in node.outputs.items():
            token = frame.values[slot] if frame.values else UNSETTLED
            if token is UNSETTLED:
                continue
            ports[port] = {"skip": token.reason} if token.__class__ is Skip else (
                {"error": token.failure} if token.__class__ is Errored else {"value": separate(token)}
            )
        reason = frame.reasons.get(node.index)
        data = {"state": STATES[state].value, "ports": ports, "metadata": {}}
        if reason is not None:
            data["reason"] = reason.reason
        self.reporter.emit(EventKind.NODE_FINISHED, frame.path_of(node), data)


def _declared_order(firing: Firing) -> tuple[int, int]:
    frame, index = firing
    return frame.number, index
