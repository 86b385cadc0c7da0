"""Open scope instances for loops, maps and subflows, and close them."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.failure import failure_of
from dataflow.compiler.plan import FlowOf, LoopOf, MapOf
from dataflow.core.attempts import wait_before_next
from dataflow.core.events import EventKind
from dataflow.core.firing import Firing
from dataflow.core.states import READY, RUNNING, UNSETTLED, WAITING, Errored, Skip
from dataflow.scheduler.arguments import argument
from dataflow.scheduler.frames import Frame, OpenedFlow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dataflow.compiler.plan import PlanNode, ScopePlan
    from dataflow.errors import NodeTimeout
    from dataflow.scheduler.frames import Unhandled
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["AT_ONCE", "Nesting", "Opening"]

#: How many items of a map begin in one step of the work list.
AT_ONCE: Final = 100


class Opening:
    """The part of the scheduler that creates and begins scope instances."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self._frames = 1  # the root is number 0
        self.due: deque[Callable[[], None]] = deque()  # scheduled steps

    def later(self, frame: Frame, node: PlanNode) -> None:
        """Schedule the opening of a loop, map or subflow."""
        self.due.append(partial(self.open, frame, node))

    def open(self, frame: Frame, node: PlanNode) -> None:
        """Open a loop, map or subflow, unless it is settled as a whole from a known outcome."""
        if frame.states[node.index] != WAITING:  # its scope instance was closed meanwhile
            return
        replay = self.scheduler.replay
        if replay is not None and replay.settle_opener(frame, node):
            return
        live = self.scheduler.live
        if live is not None and live.settle_opener(frame, node):
            return
        match node.action:
            case LoopOf():
                self.scheduler.loops.open(frame, node, node.action)
            case MapOf(is_every=True):
                self.scheduler.maps.arrivals.open(frame, node, node.action)
            case MapOf():
                self.scheduler.maps.open(frame, node, node.action)
            case FlowOf():
                self.scheduler.nesting.open(frame, node, node.action)
            case _:
                raise AssertionError("calls and joins open nothing")

    def do_later(self, step: Callable[[], None]) -> None:
        """Schedule another step, after all steps scheduled before."""
        self.due.append(step)

    def new_frame(self, plan: ScopePlan, parent: Frame, owner: int, name: str | int) -> Frame:
        """Create a scope instance; `begin` starts it."""
        frame = Frame(plan, self._frames, parent.errors, parent, owner, name, self.scheduler.keep)
        self._frames += 1
        return frame

    def begins_with_calls(self, plan: ScopePlan, parameters: Iterable[int]) -> bool:
        """Return whether scope instances begin with these parameters alone, which only calls read."""
        scheduler, calls = self.scheduler, plan.calls
        is_plain = scheduler.keep and scheduler.replay is None and plan.begins_with_parameters
        return is_plain and all(calls[slot] is not None and slot not in plan.collects for slot in parameters)

    def begin_calls(self, frame: Frame, parameters: Iterable[tuple[int, Any]]) -> None:
        """Pass parameters, which only calls read, to a scope instance that begins with nothing else."""
        for slot, value in parameters:
            self.scheduler.note_ready(frame.give(slot, value))

    def begin(self, frame: Frame, parameters: Iterable[tuple[int, Any]]) -> None:
        """Pass parameters and outer values to a scope instance, and release nodes that wait for nothing."""
        plan, put = frame.plan, self.scheduler.put
        for index in plan.disabled:  # before anything could make them ready
            self.scheduler.releasing.disabled(frame, plan.nodes[index])
        for slot, token in parameters:
            put(frame, slot, token)
        if plan.begins_with_parameters and self.scheduler.replay is None:
            return
        for outer, slot in plan.imports:
            assert frame.parent is not None, "only inner frames import"
            if (token := frame.parent.values[outer]) is not UNSETTLED:
                put(frame, slot, token)
            elif slot in plan.awaited or slot in plan.awaited_nexts:
                frame.note_awaited(slot)
        if plan.settled:
            self.scheduler.settle_again(frame, plan.settled)
        for index in plan.starts:
            self.scheduler.releasing.release(frame, index)
        if self.scheduler.replay is not None and frame.undemanded:
            self.scheduler.pulling.demand(frame, self.scheduler.replay.demanded_before(frame))
        if not frame.unsettled and len(plan.nodes) == len(plan.deferred):
            self.scheduler.has_emptied(frame)

    def await_no_more(self, frame: Frame, slots: Iterable[int]) -> None:
        """Note that values from outside have settled, or are no longer needed for the instance to end."""
        for slot in frame.awaits.intersection(slots):
            frame.awaits.discard(slot)
            frame.unsettled -= 1
            if not frame.unsettled:
                self.scheduler.has_emptied(frame)


class Nesting:
    """The part of the scheduler that opens and ends the scope instances of subflows."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def open(self, frame: Frame, node: PlanNode, action: FlowOf) -> None:
        """Begin the first attempt at a subflow that is ready."""
        frame.note_opened(node.index, OpenedFlow(begun=self.scheduler.clock()))
        if action.bounds is not None:
            frame.attempts_at(node.index).begun = self.scheduler.clock()
            if self.scheduler.replay is not None:
                number = self.scheduler.replay.attempt_at_flow(frame.path_of(node))
                frame.attempts_at(node.index).number = number
        self._attempt(frame, node, action)

    def _attempt(self, frame: Frame, node: PlanNode, action: FlowOf) -> None:
        """Open a scope instance of the subflow, which begins with the values of the node's ports."""
        frame.states[node.index] = RUNNING
        number = frame.attempt_of(node.index)
        self.scheduler.report(EventKind.NODE_STARTED, frame, node, type="flow", attempt=number)
        try:
            self._before(frame, node, action, number)
            values = [(slot, argument(frame, node, given)) for slot, given in action.inputs.items()]
        except BaseException as error:  # noqa: BLE001 - `before` is the user's function
            self.scheduler.failing.failed(frame, node, error)
            return
        name = "" if number == 1 else f"~{number}"
        inner = self.scheduler.opening.new_frame(action.plan.root, frame, node.index, name)
        inner.errors = _errors_of(frame, action)
        opened = _opened(frame, node)
        opened.live[inner.number] = inner
        opened.frames.append(inner)
        self._bound(frame, node, action, inner)
        self.scheduler.opening.begin(inner, values)

    def _before(self, frame: Frame, node: PlanNode, action: FlowOf, number: int) -> None:
        """Run the `before` hook of an extra attempt (S9.1), unless a resumed run goes on inside it."""
        before = action.bounds.retry.before if action.bounds is not None and action.bounds.retry else None
        path, replay = frame.path_of(node), self.scheduler.replay
        if number > 1 and before is not None:
            if replay is not None and replay.past.has_begun_in(f"{path}~{number}"):
                return
            before(Firing(self.scheduler.reporter.run, path, number))

    def _bound(self, frame: Frame, node: PlanNode, action: FlowOf, inner: Frame) -> None:
        """Have an attempt end at its timeout (S9.2)."""
        bounds = action.bounds
        if bounds is None or (bounds.timeout is None and bounds.deadline is None):
            return
        attempts = frame.attempts[node.index]
        assert attempts.begun is not None, "the first attempt has begun"

        def end() -> None:
            assert attempts.begun is not None, "as above"
            late = bounds.timed_out(node.id, attempts.begun, self.scheduler.clock())
            _opened(frame, node).late = late
            cause = Errored(
                frame.path_of(node),
                failure_of(late, node.id, frame.path_of(node), frame.attempt_of(node.index)),
            )
            self.scheduler.failing.close(inner, cause)

        opened = _opened(frame, node)
        now, replay = self.scheduler.clock(), self.scheduler.replay
        opened.until = bounds.ends_by(attempts.begun, now)
        if replay is not None and (times := replay.past.flow_times.pop(frame.path_of(node), None)):
            left, spent = times  # when the run was paused
            attempts.begun, opened.until = now - spent, now + left
        self.scheduler.standing.bound(inner, opened, end)

    def ended(self, inner: Frame, node: PlanNode) -> None:
        """Continue after the end of a scope instance: with another attempt, or by settling the node."""
        frame, action = inner.parent, node.action
        assert frame is not None, "the frame of a flow node is inside a frame"
        assert isinstance(action, FlowOf)
        opened, unhandled = _opened(frame, node), sorted(inner.failures)
        self.scheduler.standing.forget(inner)
        late = opened.late or self._overdue(frame, node, action)
        opened.late = None
        if frame.has_stopped(node.index):
            failures = () if _is_provisional(frame, node, action, unhandled) else unhandled
            self.scheduler.releasing.opener_ended(frame, node, failures)
        elif late is None and _is_good(inner, action, unhandled):
            self._leave(frame, node, action, inner)
        elif not self._attempt_again(frame, node, action, late or _error_of(unhandled)):
            opened.release(self.scheduler.clock())
            if late is not None:
                self.scheduler.failing.failed(frame, node, late)
            else:
                self.scheduler.failing.opener_failed(frame, node, unhandled)

    def _overdue(self, frame: Frame, node: PlanNode, action: FlowOf) -> NodeTimeout | None:
        """Return the timeout of an attempt that has ended too late: its code kept the timer waiting."""
        attempts, now = frame.attempts.get(node.index), self.scheduler.clock()
        if (
            attempts is None
            or attempts.begun is None
            or action.bounds is None
            or now < _opened(frame, node).until
        ):
            return None
        return action.bounds.timed_out(node.id, attempts.begun, now)

    def _attempt_again(self, frame: Frame, node: PlanNode, action: FlowOf, error: BaseException) -> bool:
        again = partial(self.scheduler.opening.do_later, partial(self._resume, frame, node, action))
        return self.scheduler.repeating.attempt_again(frame, node, action.bounds, error, again)

    def _resume(self, frame: Frame, node: PlanNode, action: FlowOf) -> None:
        if frame.states[node.index] == READY:  # else it was stopped meanwhile
            self._attempt(frame, node, action)

    def _leave(self, frame: Frame, node: PlanNode, action: FlowOf, inner: Frame) -> None:
        """Settle the node with the outputs of the flow."""
        for own, slot in action.results.items():
            self.scheduler.put(frame, own, self._left(frame, node, inner, slot))
        self.scheduler.releasing.opener_ended(frame, node, ())

    def _left(self, frame: Frame, node: PlanNode, inner: Frame, slot: int) -> Any:
        """Return the token of an output of the flow."""
        match inner.values[slot]:
            case Skip() as cause:
                return Skip(frame.path_of(node), "the flow has left the output out", cause)
            case Errored() as error:
                policy = node.policy
                collects = policy is not None and policy.errors == "collect"
                return error.failure if collects else Errored(frame.path_of(node), error.failure, error)
            case _:
                return self.scheduler.take(inner, slot)


def _opened(frame: Frame, node: PlanNode) -> OpenedFlow:
    opened = frame.opened[node.index]
    assert isinstance(opened, OpenedFlow), "a flow node opens frames of its flow"
    return opened


def _error_of(unhandled: Sequence[Unhandled]) -> BaseException:
    """Return the first exception; a failure without one has come from elsewhere in the flow."""
    return next(one.error for one in unhandled if one.error is not None)


def _errors_of(frame: Frame, action: FlowOf) -> Any:
    """Return the effect of failures inside: the flow's own setting, else the run's (S9.4)."""
    if action.policy.errors == "collect":
        return "continue"
    return action.settings.errors or frame.errors


def _is_good(inner: Frame, action: FlowOf, unhandled: Sequence[Unhandled]) -> bool:
    """Return whether an attempt succeeded: without failures, or with each failure in an output (S7.3)."""
    if not unhandled or action.policy.errors != "collect":
        return not unhandled
    failed = {slot for slot in action.results.values() if isinstance(inner.values[slot], Errored)}
    return all(_reaches(inner, one.index, failed) for one in unhandled)


def _is_provisional(frame: Frame, node: PlanNode, action: FlowOf, unhandled: Sequence[Unhandled]) -> bool:
    """Return whether the failures of an attempt would not have failed the node (S7.3, S9.1)."""
    if not unhandled or action.policy.errors == "collect":
        return True
    retry = action.bounds.retry if action.bounds is not None else None
    return wait_before_next(retry, frame.attempt_of(node.index), _error_of(unhandled)) is not None


def _reaches(inner: Frame, index: int, failed: set[int]) -> bool:
    """Return whether an output of a node leads to one of the outputs that failed."""
    plan = inner.plan
    todo, seen = [index], {index}
    while todo:
        for slot in plan.nodes[todo.pop()].outputs.values():
            if slot in failed:
                return True
            owners = [owner for owner, _ in plan.exports.get(slot, ())]
            for reader in {
                *plan.readers[slot],
                *plan.early.get(slot, ()),
                *plan.lazy.get(slot, ()),
                *owners,
            } - seen:
                seen.add(reader)
                todo.append(reader)
    return False
