"""Read digests: those of what a node reads, by which a live session tells whether it is the same (S13.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, assert_never

from dataflow.compiler.plan import Call, FlowOf, JoinOf, LoopOf, MapOf
from dataflow.core.states import UNSETTLED, Errored, Skip, is_dead
from dataflow.values.digests import NoDigest, digest

if TYPE_CHECKING:
    from dataflow.compiler.plan import PlanNode, ScopePlan
    from dataflow.scheduler.frames import Frame

__all__ = ["Digests", "Reads", "digest_of"]

#: What stands for the digest of a token that is no value, and of a signal that has come.
SKIPPED: Final = b"skip"
SIGNALLED: Final = b"signal"


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
