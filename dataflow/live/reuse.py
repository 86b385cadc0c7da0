"""Reuse a past outcome while the inputs of its firing are unchanged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, assert_never

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

__all__ = ["PastOutcome", "Reads", "Reuse", "digest_of"]

#: In place of the content hash of a skip, and of a signal that has arrived.
SKIPPED: Final = b"skip"
SIGNALLED: Final = b"signal"
#: What the keys of a map were made of, its key function and the content hash of its list, and the keys.
_Keys: TypeAlias = "tuple[tuple[object, object], Sequence[str]]"


@dataclass(slots=True, eq=False)
class PastOutcome:
    """The outcome of a firing, loop, map or subflow, with the content hashes of its inputs.

    The state is that of an ended node, or READY for a node that has paused and waits for its answer.
    """

    function: object  # that was called, if any
    given: tuple[object, ...]
    state: int
    tokens: Mapping[int, Any]  # by slot
    digests: Mapping[int, object]  # content hashes of tokens, by slot, as far as they are known
    revision: int = 0  # in which it was computed
    before: tuple[object, ...] | None = None  # its inputs when it was computed the time before
    error: BaseException | None = None
    attempt: int = 1
    metadata: Mapping[str, Any] | None = None
    opened: Opened | None = None
    ask: OpenAsk | None = None


class Reuse:
    """The part of a live session's scheduler that settles firings from past outcomes.

    `settled` is called with each node of the root that has become fresh.
    """

    def __init__(self, scheduler: Scheduler, settled: Callable[[int], None]) -> None:
        self.scheduler = scheduler
        self.freshness = Freshness(scheduler, settled, self._keep_digests)
        self.digests = Digests()
        self.memory = Outcomes()
        self.revision = 1
        self.called = 0  # firings that were passed on to be called
        self.reused = 0  # firings that were reused though something upstream was computed again
        self._begun: dict[FiringId, _Begun] = {}
        self._unknown: list[FiringId] = []
        self._errors: dict[FiringId, BaseException] = {}  # exceptions that calls have raised

    def settle(self, ready: Iterable[FiringId]) -> None:
        """Settle the firings whose inputs are unchanged; the others are called."""
        for frame, index in ready:
            if frame.states[index] == RUNNING:  # it has looked into the memo, and waits for its slots
                self._unknown.append((frame, index))
                self.called -= 1  # it was counted when it was passed on first
            elif frame.states[index] == READY and not self._reuses(frame, frame.plan.nodes[index]):
                self._unknown.append((frame, index))

    def to_fire(self) -> list[FiringId]:
        """Return the firings that are to be called, each once."""
        unknown, self._unknown = self._unknown, []
        self.called += len(unknown)
        return unknown

    def settle_opener(self, frame: Frame, node: PlanNode) -> bool:
        """Settle a loop, map or subflow of the root whose inputs are unchanged."""
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

    def keys(
        self, frame: Frame, node: PlanNode, slot: int, key: object, make: Callable[[], Sequence[str]]
    ) -> Sequence[str]:
        """Return the keys of a map: the former ones if its list and its key function are unchanged."""
        given = (key, self.digests.of(frame, slot))
        known = self.memory.keys_of(frame, node)
        names = known[1] if known is not None and known[0] == given else make()
        self.memory.note_keys(frame, node, (given, names))
        return names

    def is_superseded(self, frame: Frame, index: int) -> bool:
        """Return whether an update has invalidated a firing of the root that has not ended."""
        return frame.parent is None and self.freshness.is_superseded(index)

    def passed_over(self, frame: Frame, index: int) -> None:
        """Note that a firing will not be called; a superseded one is taken back."""
        self._begun.pop((frame, index), None)
        self.called -= 1
        if self.is_superseded(frame, index):
            self.freshness.take_back(index)

    def cut_off(self, frame: Frame, node: PlanNode, outputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep old values that the node's own `cutoff` considers equal; raise what it raises."""
        policy = node.policy
        if policy is None or policy.cutoff is MISSING:
            return outputs
        known = self.memory.find(frame, node)
        if known is None or known.state != DONE:
            return outputs
        kept: dict[int, object] = {}
        for port, slot in node.outputs.items():
            old, new = known.tokens.get(slot, UNSETTLED), outputs.get(port, SKIP)
            if new is SKIP or old is UNSETTLED or is_dead(old):
                continue
            if checked_answer(policy.cutoff(own_copy(old), own_copy(new)), node.id, "cutoff"):
                outputs = {**outputs, port: own_copy(old)}
                kept |= {slot: known.digests[slot]} if slot in known.digests else {}
        for slot, digested in kept.items():  # a value without a content hash counts as unchanged too
            frame.note_digest(slot, digested)
        return outputs

    def succeed(self, frame: Frame, index: int, result: Any) -> list[FiringId] | None:
        """Settle a firing that returned, the fast path: only calls of the root may read the value.

        Return None if the general path is needed.
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
        """Note the exception of a call that is about to end."""
        if (frame, index) in self._begun:
            self._errors[frame, index] = error

    def superseded(
        self, frame: Frame, node: PlanNode, tokens: Mapping[int, Any], error: BaseException | None = None
    ) -> None:
        """Note the outcome of a superseded firing that has run to its end."""
        begun = self._begun.pop((frame, node.index), None)
        if begun is not None:
            known = PastOutcome(
                begun.function, begun.given, FAILED if error else DONE, tokens, {}, self.revision
            )
            known.error, known.attempt = error, frame.attempt_of(node.index)
            known.metadata = frame.metadata.get(node.index)
            self.memory.note(frame, node, known)

    def finished(self, frame: Frame, node: PlanNode, state: int) -> None:
        """Note the outcome of a node that has just ended."""
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
        """Note that the plan and some nodes of the root were replaced; what is inside them is compared."""
        for index in changed:
            self.memory.forget(index)
        self.digests.forget_plan()
        self.freshness.change(nodes=changed)

    def _reuses(self, frame: Frame, node: PlanNode) -> bool:
        """Settle a firing from its past outcome if its inputs are unchanged; return whether it is settled."""
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
        """Note the outcome of a loop, map or subflow, and drop outcomes that are no longer inside it."""
        index, known, opened = node.index, self.memory.of_root(node.index), frame.opened.get(node.index)
        if known is not None and known.opened is opened:  # it was settled as a whole
            return
        given, before = self.digests.given(frame, node), None if known is None else known.given
        tokens = _tokens(frame, node)
        known = PastOutcome(None, given, DONE, tokens, {}, self.revision, before, opened=opened)
        self.memory.note(frame, node, known)
        self.memory.has_ended(index)

    def _keep_digests(self, index: int) -> None:
        """Keep the content hashes of a root outcome before they are removed from the scope instance."""
        known, root = self.memory.of_root(index), self.scheduler.root
        if known is not None and root.states[index] == DONE and len(known.digests) < len(known.tokens):
            known.digests = {slot: root.digests[slot] for slot in known.tokens if slot in root.digests}


def _outcome(
    frame: Frame, node: PlanNode, state: int, begun: _Begun, error: BaseException | None, digests: Digests
) -> PastOutcome:
    """Return the outcome of a firing that was called."""
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
    """Return the tokens of a node, copied if their readers could change them."""
    values, shared = frame.values, frame.plan.shared
    return {slot: values[slot] if shared[slot] else own_copy(values[slot]) for slot in node.outputs.values()}


def _function_of(node: PlanNode) -> object:
    assert isinstance(node.action, Call), "only calls fire"
    return node.action.type.call


def _is_read(plan: ScopePlan, slot: int) -> bool:
    return bool(plan.readers[slot]) or bool(plan.has_other_readers[slot]) or slot in plan.collects


class _Begun(NamedTuple):
    """A firing that is to be called: the content hashes of its inputs, and its past outcome."""

    function: object  # that is called; the node may get another meanwhile
    given: tuple[object, ...]
    before: PastOutcome | None


class Outcomes:
    """The outcomes of all firings; those no longer inside a node are dropped when the node ends."""

    def __init__(self) -> None:
        self._own: dict[int, PastOutcome] = {}  # by node of the root
        self._inside: dict[int, _Inside] = {}  # by node of the root

    def of_root(self, index: int) -> PastOutcome | None:
        """Return the outcome of a node of the root."""
        return self._own.get(index)

    def find(self, frame: Frame, node: PlanNode) -> PastOutcome | None:
        """Return the outcome of a firing."""
        if frame.parent is None:
            return self._own.get(node.index)
        inside = self._inside.get(_opener(frame))
        if inside is None:
            return None
        path = frame.path_of(node)
        return inside.now.get(path) or inside.before.get(path)

    def note(self, frame: Frame, node: PlanNode, known: PastOutcome) -> None:
        """Note the outcome of a firing, computed or reused."""
        if frame.parent is None:
            self._own[node.index] = known
        else:
            self._inside[_opener(frame)].now[frame.path_of(node)] = known

    def note_own(self, index: int, known: PastOutcome) -> None:
        """Note the outcome of a node of the root."""
        self._own[index] = known

    def keys_of(self, frame: Frame, node: PlanNode) -> _Keys | None:
        """Return the keys of a map when it was opened last."""
        inside, path = self._inside[_root_node(frame, node)], frame.path_of(node)
        return inside.keys_now.get(path) or inside.keys_before.get(path)

    def note_keys(self, frame: Frame, node: PlanNode, keys: _Keys) -> None:
        """Note the keys of a map that opens."""
        self._inside[_root_node(frame, node)].keys_now[frame.path_of(node)] = keys

    def opens(self, index: int) -> None:
        """Note that a loop, map or subflow of the root opens: the outcomes inside are looked up by path."""
        inside = self._inside.setdefault(index, _Inside())
        inside.before, inside.now = {**inside.before, **inside.now}, {}
        inside.keys_before, inside.keys_now = {**inside.keys_before, **inside.keys_now}, {}

    def has_ended(self, index: int) -> None:
        """Note that such a node has ended: outcomes that are no longer inside are dropped."""
        self._inside[index].before, self._inside[index].keys_before = {}, {}

    def forget(self, index: int) -> None:
        """Drop the outcome of a node of the root, but not those inside it."""
        self._own.pop(index, None)


@dataclass(slots=True, eq=False)
class _Inside:
    """Outcomes of the firings inside a loop, map or subflow of the root, by path."""

    now: dict[str, PastOutcome] = field(default_factory=dict)  # since it was opened last
    before: dict[str, PastOutcome] = field(default_factory=dict)
    keys_now: dict[str, _Keys] = field(default_factory=dict)  # of maps, as `now` and `before`
    keys_before: dict[str, _Keys] = field(default_factory=dict)


def _root_node(frame: Frame, node: PlanNode) -> int:
    """Return the node of the root that is a node, or contains it."""
    return node.index if frame.parent is None else _opener(frame)


def _opener(frame: Frame) -> int:
    """Return the node of the root that contains a scope instance."""
    while frame.parent is not None and frame.parent.parent is not None:
        frame = frame.parent
    return frame.owner


class Digests:
    """The content hashes of slots, computed once and kept in the scope instances."""

    def __init__(self) -> None:
        self._imported: dict[ScopePlan, dict[int, int]] = {}
        self._reads: dict[PlanNode, Reads] = {}

    def of(self, frame: Frame, slot: int) -> object:
        """Return the content hash of a slot; a value without one equals only itself."""
        found = frame.digests.get(slot)
        return self._compute(frame, slot) if found is None else found

    def given(self, frame: Frame, node: PlanNode) -> tuple[object, ...]:
        """Return the content hashes of a node's inputs; of a signal only whether it arrived."""
        reads, known = self.reads_of(node), frame.digests
        given = [known.get(slot) or self._compute(frame, slot) for slot in reads.slots]
        if reads.signals:
            values = frame.values
            given += [self.of(frame, slot) if is_dead(values[slot]) else SIGNALLED for slot in reads.signals]
        return tuple(given)

    def reads_of(self, node: PlanNode) -> Reads:
        """Return what a node reads, including what is read inside it."""
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
            where, own = where.parent, outer  # one content hash for all scope instances that see it
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


@dataclass(frozen=True, slots=True)
class Reads:
    """What a node reads: slots, then slots of which only the order counts, and the port of each."""

    slots: tuple[int, ...]
    signals: tuple[int, ...]
    ports: tuple[str, ...]


def digest_of(token: object) -> object:
    """Return the content hash of a token; a value without one equals only itself."""
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
