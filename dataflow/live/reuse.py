"""Reuse a past outcome while the inputs of its firing are unchanged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, assert_never

from dataflow.base.copies import own_copy
from dataflow.compiler.plan import Call, FlowOf, JoinOf, LoopOf, MapOf
from dataflow.core.nodetype import checked_answer
from dataflow.core.ports import MISSING, SKIP
from dataflow.core.states import (
    DONE,
    FAILED,
    READY,
    RUNNING,
    TIMED_OUT,
    UNSETTLED,
    WAITING,
    Errored,
    Skip,
    is_dead,
)
from dataflow.live.freshness import Freshness
from dataflow.scheduler.hits import Hit
from dataflow.values.digests import NoDigest, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dataflow.compiler.plan import PlanNode, ScopePlan
    from dataflow.scheduler.asks import OpenAsk
    from dataflow.scheduler.frames import FiringId, Frame, Opened
    from dataflow.scheduler.scheduler import Scheduler


__all__ = ["Digests", "Outcomes", "PastOutcome", "Reads", "Reuse", "digest_of"]

#: What stands for the digest of a token that is no value, and of a signal that has come.
SKIPPED: Final = b"skip"
SIGNALLED: Final = b"signal"


@dataclass(slots=True, eq=False)
class PastOutcome:
    """What a firing, or a loop, a map or a flow node, came to, and the digests of what it was given.

    Its state is that of a node that has ended, READY for one that has paused and waits for its answer.
    """

    function: object  # that was called; None where there is none
    given: tuple[object, ...]
    state: int
    tokens: Mapping[int, Any]  # by slot
    digests: Mapping[int, object]  # of these, as far as they are known
    revision: int = 0  # in which it was computed
    before: tuple[object, ...] | None = None  # what it was given when it was computed the time before
    error: BaseException | None = None
    attempt: int = 1
    metadata: Mapping[str, Any] | None = None
    opened: Opened | None = None
    ask: OpenAsk | None = None


@dataclass(slots=True, eq=False)
class _Inside:
    """What is known of the firings inside a loop, map or flow node of the root, by path."""

    now: dict[str, PastOutcome] = field(default_factory=dict)  # since it was opened last
    before: dict[str, PastOutcome] = field(default_factory=dict)


class Outcomes:
    """What is known of all firings. What is no longer inside a node is forgotten when that has ended."""

    def __init__(self) -> None:
        self._own: dict[int, PastOutcome] = {}  # by node of the root
        self._inside: dict[int, _Inside] = {}  # likewise

    def of_root(self, index: int) -> PastOutcome | None:
        """Return what is known of a node of the root."""
        return self._own.get(index)

    def find(self, frame: Frame, node: PlanNode) -> PastOutcome | None:
        """Return what is known of a firing."""
        if frame.parent is None:
            return self._own.get(node.index)
        inside = self._inside.get(_opener(frame))
        if inside is None:
            return None
        path = frame.path_of(node)
        return inside.now.get(path) or inside.before.get(path)

    def note(self, frame: Frame, node: PlanNode, known: PastOutcome) -> None:
        """Note what a firing has come to, or that it still stands."""
        if frame.parent is None:
            self._own[node.index] = known
        else:
            self._inside[_opener(frame)].now[frame.path_of(node)] = known

    def note_own(self, index: int, known: PastOutcome) -> None:
        """Note what a firing of the root has come to."""
        self._own[index] = known

    def opens(self, index: int) -> None:
        """Note that a loop, map or flow node of the root opens: what was inside it is looked up by path."""
        inside = self._inside.setdefault(index, _Inside())
        inside.before, inside.now = {**inside.before, **inside.now}, {}

    def has_ended(self, index: int) -> None:
        """Note that such a node has come to its end: what is no longer inside it is forgotten."""
        self._inside[index].before = {}

    def forget(self, index: int) -> None:
        """Forget what a node of the root has come to, not what is inside it."""
        self._own.pop(index, None)


def _opener(frame: Frame) -> int:
    """Return the node of the root that a frame is inside of."""
    while frame.parent is not None and frame.parent.parent is not None:
        frame = frame.parent
    return frame.owner


class _Begun(NamedTuple):
    """A firing that is to be called: the digests of what it is given, and what it came to before."""

    function: object  # that is called; the node may get another meanwhile
    given: tuple[object, ...]
    before: PastOutcome | None


class Reuse:
    """The part of a live session's scheduler that settles what is known instead of calling it.

    `settled` is told of each node of the root that has become fresh.
    """

    def __init__(self, scheduler: Scheduler, settled: Callable[[int], None]) -> None:
        self.scheduler = scheduler
        self.freshness = Freshness(scheduler, settled, self._keep_digests)
        self.digests = Digests()
        self.memory = Outcomes()
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

    def is_superseded(self, frame: Frame, index: int) -> bool:
        """Tell whether an update has made a firing of the root stale that has not ended."""
        return frame.parent is None and self.freshness.is_superseded(index)

    def passed_over(self, frame: Frame, index: int) -> None:
        """Note that a firing will not be called; one that an update has overtaken is taken back."""
        self._begun.pop((frame, index), None)
        self.called -= 1
        if self.is_superseded(frame, index):
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
            if checked_answer(policy.cutoff(own_copy(old), own_copy(new)), node.id, "cutoff"):
                outputs = {**outputs, port: own_copy(old)}
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
        if frame.dead_inputs or frame.is_closing or scheduler.admission is not None:
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
        known = PastOutcome(function, given, DONE, {slot: result}, digests, self.revision, before)
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
            known = PastOutcome(begun.function, begun.given, READY, {}, {}, self.revision, ask=one)
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
            known = PastOutcome(
                begun.function, begun.given, FAILED if error else DONE, tokens, {}, self.revision
            )
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

    def _put(self, frame: Frame, known: PastOutcome) -> None:
        shared = frame.plan.shared
        for slot, token in known.tokens.items():
            self.scheduler.put(frame, slot, token if shared[slot] else own_copy(token))
        for slot, digested in known.digests.items():
            frame.note_digest(slot, digested)

    def _note_opener(self, frame: Frame, node: PlanNode) -> None:
        """Note what a loop, map or flow node came to, and forget what is no longer inside it."""
        index, known, opened = node.index, self.memory.of_root(node.index), frame.opened.get(node.index)
        if known is not None and known.opened is opened:  # it was settled as a whole
            return
        given, before = self.digests.given(frame, node), None if known is None else known.given
        tokens = _tokens(frame, node)
        known = PastOutcome(None, given, DONE, tokens, {}, self.revision, before, opened=opened)
        self.memory.note(frame, node, known)
        self.memory.has_ended(index)

    def _keep_digests(self, index: int) -> None:
        """Keep the digests of what a node of the root came to, which is about to be forgotten there."""
        known, root = self.memory.of_root(index), self.scheduler.root
        if known is not None and root.states[index] == DONE and len(known.digests) < len(known.tokens):
            known.digests = {slot: root.digests[slot] for slot in known.tokens if slot in root.digests}


def _outcome(
    frame: Frame, node: PlanNode, state: int, begun: _Begun, error: BaseException | None, digests: Digests
) -> PastOutcome:
    """Tell what a firing came to that was called."""
    tokens = {} if error is not None else _tokens(frame, node)
    made = {slot: digests.of(frame, slot) for slot in tokens if _is_read(frame.plan, slot)}
    before = None if begun.before is None else begun.before.given
    known = PastOutcome(begun.function, begun.given, state, tokens, made, before=before, error=error)
    if error is not None:
        known.attempt = frame.attempt_of(node.index)
    if frame.metadata:
        known.metadata = frame.metadata.get(node.index)
    return known


def _tokens(frame: Frame, node: PlanNode) -> dict[int, Any]:
    """Return what a node came to, of which nobody else can change anything."""
    values, shared = frame.values, frame.plan.shared
    return {slot: values[slot] if shared[slot] else own_copy(values[slot]) for slot in node.outputs.values()}


def _function_of(node: PlanNode) -> object:
    assert isinstance(node.action, Call), "only calls fire"
    return node.action.type.call


def _is_read(plan: ScopePlan, slot: int) -> bool:
    return bool(plan.readers[slot]) or bool(plan.is_told[slot]) or slot in plan.collects


@dataclass(frozen=True, slots=True)
class Reads:
    """What a node reads: slots, then those of which only the order counts, and the port of each."""

    slots: tuple[int, ...]
    signals: tuple[int, ...]
    ports: tuple[str, ...]


class Digests:
    """The digests of what stands in frames, each computed once; they stand in the frames too."""

    def __init__(self) -> None:
        self._imported: dict[ScopePlan, dict[int, int]] = {}
        self._reads: dict[PlanNode, Reads] = {}

    def of(self, frame: Frame, slot: int) -> object:
        """Return the digest of what a slot holds; what has none is equal to nothing but itself."""
        found = frame.digests.get(slot)
        return self._compute(frame, slot) if found is None else found

    def given(self, frame: Frame, node: PlanNode) -> tuple[object, ...]:
        """Return the digests of all that a node reads; of a signal only whether it came."""
        reads, known = self.reads_of(node), frame.digests
        given = [known.get(slot) or self._compute(frame, slot) for slot in reads.slots]
        if reads.signals:
            values = frame.values
            given += [self.of(frame, slot) if is_dead(values[slot]) else SIGNALLED for slot in reads.signals]
        return tuple(given)

    def reads_of(self, node: PlanNode) -> Reads:
        """Return what a node reads, what is read inside it included."""
        reads = self._reads.get(node)
        if reads is None:
            reads = self._reads[node] = _reads_of(node)
        return reads

    def forget_plan(self) -> None:
        """Forget what nodes read: the plan is another."""
        self._reads.clear()
        self._imported.clear()

    def _compute(self, frame: Frame, slot: int) -> object:
        where, own = frame, slot
        while where.parent is not None and (outer := self._outer(where.plan, own)) is not None:
            where, own = where.parent, outer  # one digest for all frames that see it
        found = where.digests.get(own)
        if found is None:
            found = digest_of(where.values[own])
            if where.values[own] is not UNSETTLED:
                where.note_digest(own, found)
        return found

    def _outer(self, plan: ScopePlan, slot: int) -> int | None:
        if not plan.imports:
            return None
        imported = self._imported.get(plan)
        if imported is None:
            imported = self._imported[plan] = {own: outer for outer, own in plan.imports}
        return imported.get(slot)


def digest_of(token: object) -> object:
    """Return the digest of a token; one without a digest is equal to nothing but itself."""
    if type(token) is Skip:
        return SKIPPED
    try:
        return digest(token.failure if type(token) is Errored else token)
    except NoDigest:
        return object()


def _reads_of(node: PlanNode) -> Reads:
    feeds = [(slot, feed.port) for feed in node.feeds if not feed.is_signal for slot in feed.slots]
    signals = [(slot, feed.port) for feed in node.feeds if feed.is_signal for slot in feed.slots]
    match node.action:
        case LoopOf(body=body) | MapOf(body=body):
            feeds += [(outer, body.names[own]) for outer, own in body.imports]
        case Call() | JoinOf() | FlowOf():
            pass
        case _:
            assert_never(node.action)
    slots, ordered = tuple(slot for slot, _ in feeds), tuple(slot for slot, _ in signals)
    return Reads(slots, ordered, tuple(port for _, port in (*feeds, *signals)))
