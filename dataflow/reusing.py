"""Reusing: what a firing of a live session came to stands as long as it is given the same (S13.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, assert_never

from dataflow.deciding import checked_answer
from dataflow.digests import NoDigest, digest
from dataflow.freshness import Freshness, Stage
from dataflow.plan import Call, FlowOf, JoinOf, LoopOf, MapOf
from dataflow.ports import MISSING, SKIP
from dataflow.separation import separate
from dataflow.states import DONE, FAILED, READY, TIMED_OUT, WAITING
from dataflow.tokens import UNSETTLED, Errored, Skip, is_dead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from dataflow.asking import OpenAsk
    from dataflow.frames import FiringId, Frame, Opened
    from dataflow.plan import PlanNode, ScopePlan
    from dataflow.scheduler import Scheduler

__all__ = ["Known", "Reusing", "digest_of"]

#: What stands for the digest of a token that is no value.
SKIPPED: Final = b"skip"
FAILED_WITH: Final = b"error"
SIGNALLED: Final = b"signal"


@dataclass(slots=True, eq=False)
class Known:
    """What a firing, a loop, a map or a flow node came to, and the digests of what it was given."""

    function: object  # that was called; None where there is none
    inputs: tuple[object, ...]
    state: int
    tokens: Mapping[int, Any]  # by slot
    digests: Mapping[int, object]  # of these, as far as they are known
    revision: int  # in which it was computed
    because: tuple[str, ...] = ()  # the ports whose values had changed then
    error: BaseException | None = None
    attempt: int = 1
    metadata: Mapping[str, Any] | None = None
    opened: Opened | None = None
    ask: OpenAsk | None = None  # that waits, or waited, for its answer


@dataclass(slots=True, eq=False)
class _Inside:
    """What is known of the firings inside a loop, map or flow node of the root, by path."""

    now: dict[str, Known] = field(default_factory=dict)  # of the newest time it was opened
    before: dict[str, Known] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reads:
    """What a node reads: slots, then those of which only the order counts, and the port of each."""

    slots: tuple[int, ...]
    signals: tuple[int, ...]
    ports: tuple[str, ...]


class Reusing:
    """The part of a live session's scheduler that settles what is known instead of calling it."""

    def __init__(self, scheduler: Scheduler, settled: Callable[[int], None]) -> None:
        self.scheduler = scheduler
        self.freshness = Freshness(scheduler, settled, self._keep_digests)
        self.revision = 1
        self.changed_in: dict[int, int] = {}  # by slot of an input: the revision of its newest value
        self.called = 0  # firings that were handed out to be called
        self.reused = 0  # firings that stand though something before them was computed again
        self._own: dict[int, Known] = {}  # by node of the root
        self._inside: dict[int, _Inside] = {}  # likewise
        self._begun: dict[FiringId, tuple[object, ...]] = {}  # digests of what is given to what is called
        self._unknown: list[FiringId] = []
        self._errors: dict[FiringId, BaseException] = {}  # that calls have failed with
        self._imported: dict[ScopePlan, dict[int, int]] = {}
        self._reads: dict[PlanNode, Reads] = {}

    def known(self, index: int) -> Known | None:
        """Return what is known of a node of the root."""
        return self._own.get(index)

    def inside(self, index: int) -> Mapping[str, Known]:
        """Return what is known of the firings inside a node of the root, by path."""
        found = self._inside.get(index)
        return {} if found is None else {**found.before, **found.now}

    def settle(self, ready: Iterable[FiringId]) -> None:
        """Settle the firings that are given what they were given before; the others are called."""
        for frame, index in ready:
            if frame.states[index] == READY and not self._stands(frame, frame.plan.nodes[index]):
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
        known = self._own.get(node.index)
        if known is not None and known.state == DONE and known.inputs == self._given(frame, node):
            self._put(frame, known)
            if known.opened is not None:
                frame.note_opened(node.index, known.opened)
            self.scheduler.finish(frame, node, DONE)
            return True
        inside = self._inside.setdefault(node.index, _Inside())
        inside.before, inside.now = {**inside.before, **inside.now}, {}
        return False

    def finished(self, frame: Frame, node: PlanNode, state: int) -> None:
        """Note what a node came to that has just come to its end."""
        index = node.index
        given = self._begun.pop((frame, index), None)
        if given is not None and state in (DONE, FAILED, TIMED_OUT):
            self._note(frame, node, self._outcome(frame, node, state, given))
        if frame.parent is not None:
            return
        if not isinstance(node.action, Call | JoinOf) and state == DONE:
            self._note_opener(frame, node)
        self.freshness.finished(index)

    def failed(self, frame: Frame, index: int, error: BaseException) -> None:
        """Note what a call has failed with, which is about to come to its end."""
        if (frame, index) in self._begun:
            self._errors[frame, index] = error

    def is_overtaken(self, frame: Frame, index: int) -> bool:
        """Tell whether an update has made a firing stale that was about to begin."""
        return frame.parent is None and self.freshness.stages[index] == Stage.LEAVING

    def take_back(self, index: int) -> None:
        """Take back a node of the root that is overtaken and will not fire."""
        self._begun.pop((self.scheduler.root, index), None)
        self.called -= 1
        self.freshness.take_back(index)

    def cut_off(self, frame: Frame, node: PlanNode, outputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Let the old values stand that the node's own `cutoff` takes for equal; raises what that raises."""
        policy, known = node.policy, self._find(frame, node)
        if policy is None or policy.cutoff is MISSING or known is None or known.state != DONE:
            return outputs
        for port, slot in node.outputs.items():
            old, new = known.tokens.get(slot, UNSETTLED), outputs.get(port, SKIP)
            if new is SKIP or old is UNSETTLED or is_dead(old):
                continue
            if checked_answer(policy.cutoff(separate(old), separate(new)), node.id, "cutoff"):
                outputs = {**outputs, port: separate(old)}
        return outputs

    def asked(self, one: OpenAsk) -> None:
        """Note that a node has paused: with the same inputs it is not called again."""
        given = self._begun.get((one.frame, one.node.index))
        if given is not None:
            function = _function_of(one.node)
            self._note(one.frame, one.node, Known(function, given, READY, {}, {}, self.revision, ask=one))

    def forget(self, index: int) -> None:
        """Forget what a node of the root has come to, of which something was replaced.

        What is inside it is compared function by function.
        """
        self._own.pop(index, None)
        self._reads.clear()  # the plan is another

    def superseded(self, frame: Frame, node: PlanNode, tokens: Mapping[int, Any]) -> None:
        """Note what a firing came to that was overtaken and has run to its end all the same."""
        given = self._begun.pop((frame, node.index), None)
        if given is not None:
            known = Known(_function_of(node), given, DONE, tokens, {}, self.revision)
            known.metadata = frame.metadata.get(node.index)
            self._note(frame, node, known)

    def _stands(self, frame: Frame, node: PlanNode) -> bool:
        """Settle a firing as it was settled before, if nothing has changed; tells whether it is."""
        known, given = self._find(frame, node), self._given(frame, node)
        if known is None or known.inputs != given or known.function is not _function_of(node):
            self._begun[frame, node.index] = given
            return False
        self.reused += 1
        self._note(frame, node, known)
        if known.ask is not None and known.state == READY:
            self._begun[frame, node.index] = given
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

    def _outcome(self, frame: Frame, node: PlanNode, state: int, given: tuple[object, ...]) -> Known:
        error = self._errors.pop((frame, node.index), None) if self._errors else None
        tokens = {} if error is not None else self._tokens(frame, node)
        read = frame.plan
        digests = {slot: self.digest(frame, slot) for slot in tokens if _is_read(read, slot)}
        because = self._changed(node, self._find(frame, node), given)
        known = Known(_function_of(node), given, state, tokens, digests, self.revision, because, error)
        if error is not None:
            known.attempt = frame.attempt_of(node.index)
        if frame.metadata:
            known.metadata = frame.metadata.get(node.index)
        return known

    def _note_opener(self, frame: Frame, node: PlanNode) -> None:
        """Note what a loop, map or flow node came to, and forget what is no longer inside it."""
        index, given = node.index, self._given(frame, node)
        known = self._own.get(index)
        if known is not None and known.opened is frame.opened.get(index):  # it was settled as a whole
            return
        self._own[index] = Known(
            None, given, DONE, self._tokens(frame, node), {}, self.revision,
            self._changed(node, known, given), opened=frame.opened.get(index),
        )  # fmt: skip
        if index in self._inside:
            self._inside[index].before = {}

    def _keep_digests(self, index: int) -> None:
        """Keep the digests of what a node of the root came to, which is about to be forgotten there."""
        known, root = self._own.get(index), self.scheduler.root
        if known is not None and known.tokens:
            known.digests = {slot: root.digests[slot] for slot in known.tokens if slot in root.digests}

    def _tokens(self, frame: Frame, node: PlanNode) -> dict[int, Any]:
        values, shared = frame.values, frame.plan.shared
        return {
            slot: values[slot] if shared[slot] else separate(values[slot]) for slot in node.outputs.values()
        }

    def _changed(self, node: PlanNode, known: Known | None, given: tuple[object, ...]) -> tuple[str, ...]:
        if known is None or len(known.inputs) != len(given):
            return ()
        pairs = zip(self.reads_of(node).ports, known.inputs, given, strict=True)
        return tuple(dict.fromkeys(label for label, old, new in pairs if old != new))

    def _find(self, frame: Frame, node: PlanNode) -> Known | None:
        if frame.parent is None:
            return self._own.get(node.index)
        inside = self._inside.get(_opener(frame))
        if inside is None:
            return None
        path = frame.path_of(node)
        return inside.now.get(path) or inside.before.get(path)

    def _note(self, frame: Frame, node: PlanNode, known: Known) -> None:
        if frame.parent is None:
            self._own[node.index] = known
        else:
            self._inside.setdefault(_opener(frame), _Inside()).now[frame.path_of(node)] = known

    def _given(self, frame: Frame, node: PlanNode) -> tuple[object, ...]:
        """Return the digests of all that a node reads; of a signal only whether it came."""
        reads, known = self.reads_of(node), frame.digests
        given = [known.get(slot) or self._digest(frame, slot) for slot in reads.slots]
        for slot in reads.signals:
            token = frame.values[slot]
            given.append(known.get(slot) or self._digest(frame, slot) if is_dead(token) else SIGNALLED)
        return tuple(given)

    def reads_of(self, node: PlanNode) -> Reads:
        """Return what a node reads."""
        reads = self._reads.get(node)
        if reads is None:
            reads = self._reads[node] = _reads_of(node)
        return reads

    def digest(self, frame: Frame, slot: int) -> object:
        """Return the digest of what a slot holds; what has none is equal to nothing but itself."""
        found = frame.digests.get(slot)
        return self._digest(frame, slot) if found is None else found

    def _digest(self, frame: Frame, slot: int) -> object:
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


def _function_of(node: PlanNode) -> object:
    assert isinstance(node.action, Call), "only calls fire"
    return node.action.type.call


def _opener(frame: Frame) -> int:
    """Return the node of the root that a frame is inside of."""
    while frame.parent is not None and frame.parent.parent is not None:
        frame = frame.parent
    return frame.owner


def _is_read(plan: ScopePlan, slot: int) -> bool:
    return bool(plan.readers[slot]) or bool(plan.is_told[slot]) or slot in plan.collects


def digest_of(token: object) -> object:
    """Return the digest of a token; one without a digest is equal to nothing but itself."""
    if type(token) is Skip:
        return SKIPPED
    try:
        return FAILED_WITH + digest(token.failure) if type(token) is Errored else digest(token)
    except NoDigest:
        return object()
