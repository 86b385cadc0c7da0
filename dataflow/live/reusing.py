"""Reusing: what a firing of a live session came to stands as long as it is given the same (S13.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dataflow.base.copies import separate
from dataflow.compiler.plan import Call, JoinOf
from dataflow.core.nodetype import checked_answer
from dataflow.core.ports import MISSING, SKIP
from dataflow.core.states import DONE, FAILED, READY, RUNNING, TIMED_OUT, UNSETTLED, WAITING, is_dead
from dataflow.live.freshness import Freshness
from dataflow.live.known import Known, Memory
from dataflow.live.read_digests import Digests, digest_of
from dataflow.scheduler.hits import Hit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dataflow.compiler.plan import PlanNode, ScopePlan
    from dataflow.scheduler.asks import OpenAsk
    from dataflow.scheduler.frames import FiringId, Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Reusing"]


class _Begun(NamedTuple):
    """A firing that is to be called: the digests of what it is given, and what it came to before."""

    function: object  # that is called; the node may get another meanwhile
    given: tuple[object, ...]
    before: Known | None


class Reusing:
    """The part of a live session's scheduler that settles what is known instead of calling it.

    `settled` is told of each node of the root that has become fresh.
    """

    def __init__(self, scheduler: Scheduler, settled: Callable[[int], None]) -> None:
        self.scheduler = scheduler
        self.freshness = Freshness(scheduler, settled, self._keep_digests)
        self.digests = Digests()
        self.memory = Memory()
        self.revision = 1
        self.called = 0  # firings that were handed out to be called
        self.reused = 0  # firings that stand though something before them was computed again
        self._begun: dict[FiringId, _Begun] = {}
        self._unknown: list[FiringId] = []
        self._errors: dict[FiringId, BaseException] = {}  # that calls have failed with

    def settle(self, ready: Iterable[FiringId]) -> None:
        """Settle the firings that are given what they were given before; the others are called."""
        for frame, index in ready:
            if frame.states[index] == RUNNING:  # it has asked the memo, and waits for its slots
                self._unknown.append((frame, index))
                self.called -= 1  # as it was handed out before
            elif frame.states[index] == READY and not self._stands(frame, frame.plan.nodes[index]):
                self._unknown.append((frame, index))

    def to_fire(self) -> list[FiringId]:
        """Return the firings that are to be called, each once."""
        unknown, self._unknown = self._unknown, []
        self.called += len(unknown)
        return unknown

    def settle_opener(self, frame: Frame, node: PlanNode) -> bool:
        """Settle a loop, map or flow node of the root that is given what it was given before."""
        if frame.parent is not None or frame.states[node.index] != WAITING:
            return False
        known = self.memory.of_root(node.index)
        if known is None or known.state != DONE or known.given != self.digests.given(frame, node):
            self.memory.opens(node.index)
            return False
        self._put(frame, known)
        if known.opened is not None:
            frame.note_opened(node.index, known.opened)
        self.scheduler.finish(frame, node, DONE)
        return True

    def is_overtaken(self, frame: Frame, index: int) -> bool:
        """Tell whether an update has made a firing of the root stale that has not ended."""
        return frame.parent is None and self.freshness.is_overtaken(index)

    def passed_over(self, frame: Frame, index: int) -> None:
        """Note that a firing will not be called; one that an update has overtaken is taken back."""
        self._begun.pop((frame, index), None)
        self.called -= 1
        if self.is_overtaken(frame, index):
            self.freshness.take_back(index)

    def cut_off(self, frame: Frame, node: PlanNode, outputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Let the old values stand that the node's own `cutoff` takes for equal; raises what that raises."""
        policy = node.policy
        if policy is None or policy.cutoff is MISSING:
            return outputs
        known = self.memory.find(frame, node)
        if known is None or known.state != DONE:
            return outputs
        standing: dict[int, object] = {}
        for port, slot in node.outputs.items():
            old, new = known.tokens.get(slot, UNSETTLED), outputs.get(port, SKIP)
            if new is SKIP or old is UNSETTLED or is_dead(old):
                continue
            if checked_answer(policy.cutoff(separate(old), separate(new)), node.id, "cutoff"):
                outputs = {**outputs, port: separate(old)}
                standing |= {slot: known.digests[slot]} if slot in known.digests else {}
        for slot, digested in standing.items():  # a value that has no digest is the same all the same
            frame.note_digest(slot, digested)
        return outputs

    def succeed(self, frame: Frame, index: int, result: Any) -> list[FiringId] | None:
        """Settle a firing that returned, where nobody but calls of the root hears of the value.

        Most firings come to that; None where it takes more.
        """
        end, scheduler = frame.plan.ends[index], self.scheduler
        if end is None or end.calls is None or frame.parent is not None or frame.unsettled == 1:
            return None
        if result is SKIP or type(result) is Hit or self.freshness.is_unwanted(index):
            return None
        if frame.odd or frame.is_closing or scheduler.admission is not None:
            return None
        if scheduler.reporter.is_listening:
            return None
        slot = end.out
        frame.values[slot], frame.states[index] = result, DONE
        frame.unsettled -= 1
        function, given, known = self._begun.pop((frame, index))
        digests = {}
        if end.calls:
            digests[slot] = frame.digests[slot] = digest_of(result)
        before = None if known is None else known.given
        known = Known(function, given, DONE, {slot: result}, digests, self.revision, before)
        self.memory.note_own(index, known)
        self.freshness.finished(index)
        ready = frame.count_down(end.calls)
        self.settle(ready)
        if len(self._unknown) < len(ready):
            return scheduler.advance()
        return self.to_fire()

    def asked(self, one: OpenAsk) -> None:
        """Note that a node has paused: with the same inputs it is not called again."""
        begun = self._begun.get((one.frame, one.node.index))
        if begun is not None:
            known = Known(begun.function, begun.given, READY, {}, {}, self.revision, ask=one)
            self.memory.note(one.frame, one.node, known)

    def failed(self, frame: Frame, index: int, error: BaseException) -> None:
        """Note what a call has failed with, which is about to come to its end."""
        if (frame, index) in self._begun:
            self._errors[frame, index] = error

    def superseded(
        self, frame: Frame, node: PlanNode, tokens: Mapping[int, Any], error: BaseException | None = None
    ) -> None:
        """Note what a firing came to that has run to its end though nobody waits for that any more."""
        begun = self._begun.pop((frame, node.index), None)
        if begun is not None:
            known = Known(begun.function, begun.given, FAILED if error else DONE, tokens, {}, self.revision)
            known.error, known.attempt = error, frame.attempt_of(node.index)
            known.metadata = frame.metadata.get(node.index)
            self.memory.note(frame, node, known)

    def finished(self, frame: Frame, node: PlanNode, state: int) -> None:
        """Note what a node came to that has just come to its end."""
        index = node.index
        begun = self._begun.pop((frame, index), None)
        if begun is not None and state in (DONE, FAILED, TIMED_OUT):
            error = self._errors.pop((frame, index), None) if self._errors else None
            known = _outcome(frame, node, state, begun, error, self.digests)
            known.revision = self.revision
            self.memory.note(frame, node, known)
        if frame.parent is not None:
            return
        if not isinstance(node.action, Call | JoinOf) and state == DONE:
            self._note_opener(frame, node)
        self.freshness.finished(index)

    def replaced(self, changed: Sequence[int]) -> None:
        """Note that the plan is another, and what some nodes of the root run; what is inside is compared."""
        for index in changed:
            self.memory.forget(index)
        self.digests.forget_plan()
        self.freshness.change(nodes=changed)

    def _stands(self, frame: Frame, node: PlanNode) -> bool:
        """Settle a firing as it was settled before, if nothing has changed; tells whether it is."""
        known, given = self.memory.find(frame, node), self.digests.given(frame, node)
        function = _function_of(node)
        if known is None or known.given != given or known.function is not function:
            self._begun[frame, node.index] = _Begun(function, given, known)
            return False
        self.reused += 1
        self.memory.note(frame, node, known)
        if known.ask is not None and known.state == READY:
            self._begun[frame, node.index] = _Begun(function, given, known)
            one = known.ask
            self.scheduler.asking.open_ask(frame, node, one.call, one.request, one.given, one.opened)
        elif known.error is not None:
            frame.attempts_at(node.index).number = known.attempt
            self.scheduler.failing.failed(frame, node, known.error)
        else:
            self._put(frame, known)
            frame.note_metadata(node.index, known.metadata or {})
            self.scheduler.finish(frame, node, DONE)
        return True

    def _put(self, frame: Frame, known: Known) -> None:
        shared = frame.plan.shared
        for slot, token in known.tokens.items():
            self.scheduler.put(frame, slot, token if shared[slot] else separate(token))
        for slot, digested in known.digests.items():
            frame.note_digest(slot, digested)

    def _note_opener(self, frame: Frame, node: PlanNode) -> None:
        """Note what a loop, map or flow node came to, and forget what is no longer inside it."""
        index, known, opened = node.index, self.memory.of_root(node.index), frame.opened.get(node.index)
        if known is not None and known.opened is opened:  # it was settled as a whole
            return
        given, before = self.digests.given(frame, node), None if known is None else known.given
        tokens = _tokens(frame, node)
        known = Known(None, given, DONE, tokens, {}, self.revision, before, opened=opened)
        self.memory.note(frame, node, known)
        self.memory.has_ended(index)

    def _keep_digests(self, index: int) -> None:
        """Keep the digests of what a node of the root came to, which is about to be forgotten there."""
        known, root = self.memory.of_root(index), self.scheduler.root
        if known is not None and root.states[index] == DONE and len(known.digests) < len(known.tokens):
            known.digests = {slot: root.digests[slot] for slot in known.tokens if slot in root.digests}


def _outcome(
    frame: Frame, node: PlanNode, state: int, begun: _Begun, error: BaseException | None, digests: Digests
) -> Known:
    """Tell what a firing came to that was called."""
    tokens = {} if error is not None else _tokens(frame, node)
    made = {slot: digests.of(frame, slot) for slot in tokens if _is_read(frame.plan, slot)}
    before = None if begun.before is None else begun.before.given
    known = Known(begun.function, begun.given, state, tokens, made, before=before, error=error)
    if error is not None:
        known.attempt = frame.attempt_of(node.index)
    if frame.metadata:
        known.metadata = frame.metadata.get(node.index)
    return known


def _tokens(frame: Frame, node: PlanNode) -> dict[int, Any]:
    """Return what a node came to, of which nobody else can change anything."""
    values, shared = frame.values, frame.plan.shared
    return {slot: values[slot] if shared[slot] else separate(values[slot]) for slot in node.outputs.values()}


def _function_of(node: PlanNode) -> object:
    assert isinstance(node.action, Call), "only calls fire"
    return node.action.type.call


def _is_read(plan: ScopePlan, slot: int) -> bool:
    return bool(plan.readers[slot]) or bool(plan.is_told[slot]) or slot in plan.collects
