"""The firing rule: whether a node fires, skips or waits, given its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dataflow.compiler.graph import Join
from dataflow.compiler.plan import Call, FlowOf, JoinOf, LoopOf, MapOf, second_source
from dataflow.core.context import POLICIES, merge_live
from dataflow.core.events import EventKind
from dataflow.core.ports import DONE as DONE_PORT
from dataflow.core.ports import ERROR as ERROR_PORT
from dataflow.core.ports import SKIP, Signal
from dataflow.core.states import (
    CANCELLED,
    DONE,
    NO_EDGE,
    NOT_RUN,
    SKIPPED,
    UNSETTLED,
    WAITING,
    Errored,
    Skip,
    is_dead,
)
from dataflow.diagnostics.runs import NODE_UNRELEASED, VALUES_CONFLICT
from dataflow.errors import NodeFailed
from dataflow.scheduler.arguments import exits_taken

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dataflow.compiler.plan import Feed, PlanNode
    from dataflow.core.context import MergeFunction
    from dataflow.scheduler.frames import Frame, Unhandled
    from dataflow.scheduler.scheduler import Scheduler

__all__ = [
    "Conflict",
    "Decision",
    "Fires",
    "Poisoned",
    "Releasing",
    "Skipped",
    "decide",
    "first_live",
    "first_value",
    "live_values",
    "tokens_of",
]


@dataclass(frozen=True, slots=True)
class Fires:
    """The node fires with the values (S4.4)."""


@dataclass(frozen=True, slots=True)
class Poisoned:
    """A connected port holds an error (S4.2)."""

    cause: Errored


@dataclass(frozen=True, slots=True)
class Skipped:
    """A required port, or every connected port, holds a skip (S4.3)."""

    port: str
    cause: Skip
    live: tuple[str, ...]  # ports that another node of the scope gave a value in spite of that
    dead: tuple[str, ...]  # without ports that take failures: for these no value is the normal case


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two edges of a one-value port both have a value (S5.2)."""

    port: str
    edges: tuple[str, ...]


Decision: TypeAlias = Fires | Poisoned | Skipped | Conflict
_FIRES = Fires()


def decide(feeds: Sequence[Feed], values: Sequence[Any]) -> Decision:
    """Apply the firing rule to settled feeds."""
    live: list[str] = []
    dead: list[tuple[Feed, Skip]] = []
    conflict: Conflict | None = None
    has_value = False
    for feed in feeds:
        tokens = [values[slot] for slot in feed.slots]
        if not feed.takes_failure:
            for token in tokens:
                if type(token) is Errored:
                    return Poisoned(token)
        alive = [label for label, token in zip(feed.labels, tokens, strict=True) if type(token) is not Skip]
        if alive:
            has_value = True
            live += [] if feed.is_given else [feed.port]
            if len(alive) > 1 and not feed.many and conflict is None:
                conflict = Conflict(feed.port, tuple(alive))
        elif tokens and (feed.required or any(token is not NO_EDGE for token in tokens)):
            dead.append((feed, next((token for token in tokens if token is not NO_EDGE), NO_EDGE)))
    if conflict is not None:
        return conflict
    barred = [(feed, cause) for feed, cause in dead if feed.required or not has_value]
    if barred:
        feed, cause = barred[0]
        return Skipped(
            feed.port, cause, tuple(live), tuple(feed.port for feed, _ in dead if not feed.takes_failure)
        )
    return _FIRES


def first_live(slots: Sequence[int], values: Sequence[Any]) -> int | Skip | None:
    """Decide a merge or fallback (S5.3): the winning slot, a skip if all are skips, None if undecided."""
    cause: Skip | None = None
    for slot in slots:
        token = values[slot]
        if token is UNSETTLED:
            return None
        if type(token) is not Skip:
            return slot
        cause = cause or token
    assert cause is not None, "a join has at least one source"
    return cause


def first_value(
    slots: Sequence[int], values: Sequence[Any], settled: int | None
) -> int | Skip | Errored | None:
    """Decide a race (S5.3): the slot that has just settled if it wins, a skip or error if none can win.

    Without a slot that has just settled, the first in declared order that has a value wins.
    """
    if settled is not None and not is_dead(values[settled]):
        return settled
    tokens = [values[slot] for slot in slots]
    live = [slot for slot, token in zip(slots, tokens, strict=True) if not is_dead(token)]
    if live:  # not settled yet, or settled in this very step and still to be considered
        known = [slot for slot in live if values[slot] is not UNSETTLED]
        return known[0] if settled is None and known else None
    return next((token for token in tokens if type(token) is Errored), tokens[0])


def live_values(slots: Sequence[int], values: Sequence[Any]) -> list[int]:
    """Return the slots that hold values, in order."""
    return [slot for slot in slots if not is_dead(values[slot])]


class Releasing:
    """The part of the scheduler that applies the firing rule."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def succeeded(self, frame: Frame, node: PlanNode, call: Call, outputs: Mapping[str, Any]) -> None:
        """Settle the ports of a node that returned (S3.2)."""
        put = self.scheduler.put
        if call.exits:
            matched = next(iter(exits_taken(call.type, outputs)), None)
            self.scheduler.report(EventKind.BRANCH_EVALUATED, frame, node, matched=matched)
        for slot, token in tokens_of(frame, node, call, outputs):
            put(frame, slot, token)
        self.scheduler.finish(frame, node, DONE)

    def opener_ended(self, frame: Frame, node: PlanNode, unhandled: Sequence[Unhandled]) -> None:
        """Settle a loop, map or subflow whose scope instances have all ended: failed, cancelled or done.

        One that was cut short does not fail with failures that are kept: a resumed run would keep it as it
        is, and nodes cancelled inside it would never run (S11.3).
        """
        failing = self.scheduler.failing
        frame.opened[node.index].release(self.scheduler.clock())
        if node.index in frame.withdrawn:
            self.scheduler.finish(frame, node, CANCELLED)
        elif unhandled and not (frame.is_closing and failing.stands(frame, node, unhandled[0].failure)):
            failing.opener_failed(frame, node, unhandled)
        elif frame.is_closing:
            if frame.closed_by is not None:
                frame.note_reason(node.index, frame.closed_by)
            self.scheduler.finish(frame, node, CANCELLED)
        else:
            self.opener_done(frame, node)

    def opener_done(self, frame: Frame, node: PlanNode) -> None:
        """Finish a loop, map or subflow whose ports have settled."""
        if DONE_PORT in node.outputs:
            self.scheduler.put(frame, node.outputs[DONE_PORT], Signal())
        if ERROR_PORT in node.outputs:
            self.scheduler.put(frame, node.outputs[ERROR_PORT], _no_failure(frame, node))
        self.scheduler.finish(frame, node, DONE)

    def release(self, frame: Frame, index: int) -> None:
        """Decide about a node all of whose inputs have settled (S4)."""
        if frame.states[index] != WAITING:
            return
        node = frame.plan.nodes[index]
        if node.is_plain and index not in frame.dead_inputs:
            self._fire(frame, node)
            return
        if isinstance(node.action, MapOf) and node.action.is_every:
            self.scheduler.maps.arrivals.consider(frame, node)
            return
        feeds = self.scheduler.pulling.feeds(frame, node) if frame.plan.lazy else node.feeds
        match decide(feeds, frame.values):
            case Fires():
                if len(feeds) < len(node.feeds):
                    self.scheduler.pulling.pull(frame, node)
                else:
                    self._fire(frame, node)
            case Poisoned(cause):
                self.settle_all(frame, node, Errored(frame.path_of(node), cause.failure, cause), NOT_RUN)
            case Skipped() as skipped:
                self._skip(frame, node, skipped)
            case Conflict(port, edges):
                problem = VALUES_CONFLICT(f".{port}", port=port, edges=" and from ".join(edges))
                self.scheduler.failing.failed(frame, node, NodeFailed(node.id, problem))

    def _fire(self, frame: Frame, node: PlanNode) -> None:
        match node.action:
            case Call():
                self.scheduler.make_ready(frame, node.index)
            case JoinOf(mode=Join.CONTEXTS, how=how):
                assert how is not None, "it is known how contexts are merged"
                self._merge_contexts(frame, node, how)
            case JoinOf():
                live = live_values(node.feeds[0].slots, frame.values)
                self.scheduler.put(
                    frame, node.outputs["out"], [self.scheduler.take(frame, slot) for slot in live]
                )
                self.scheduler.finish(frame, node, DONE)
            case LoopOf() | MapOf() | FlowOf():
                self.scheduler.opening.later(frame, node)

    def _merge_contexts(self, frame: Frame, node: PlanNode, how: MergeFunction) -> None:
        """Merge the conversations that have values into one (S10.4)."""
        feed = node.feeds[0]
        scheduler, path = self.scheduler, frame.path_of(node)
        live = set(live_values(feed.slots, frame.values))
        labels = [label for slot, label in zip(feed.slots, feed.labels, strict=True) if slot in live]
        contexts = [scheduler.take(frame, slot) for slot in feed.slots if slot in live]
        writer, replay = scheduler.journal_writer, scheduler.replay
        # a user's function is asked once about the same conversations (S11.3)
        digest = None if writer is None or how in POLICIES.values() else writer.digest(contexts)
        try:
            known = None if replay is None else replay.merged(path, digest)
            merged = merge_live(node.id, labels, contexts, how) if known is None else known
            if writer is not None and digest is not None:
                writer.check(merged, path)
        except BaseException as error:  # noqa: BLE001 - `how` is the user's code and may raise anything
            scheduler.failing.failed(frame, node, error)
            return
        if digest is not None:
            scheduler.report(EventKind.CONTEXTS_MERGED, frame, node, value=merged, digest=digest)
        scheduler.put(frame, node.outputs["out"], merged)
        scheduler.finish(frame, node, DONE)

    def consider(self, frame: Frame, node: PlanNode, settled: int | None = None) -> None:
        """Settle a merge, fallback or race as soon as it is decided (S5.3); look at a map over edges."""
        if isinstance(node.action, MapOf):
            self.scheduler.maps.arrivals.consider(frame, node, settled)
            return
        assert isinstance(node.action, JoinOf), "only joins may settle early"
        if node.action.mode is Join.RACE:
            self.scheduler.racing.consider(frame, node, settled)
            return
        if frame.states[node.index] != WAITING or node.index in frame.undemanded:
            return
        match first_live(node.feeds[0].slots, frame.values):
            case None:
                self._pull_second(frame, node)
            case Skip() as cause:
                skip = Skip(frame.path_of(node), "none of its sources has a value", cause)
                self.settle_all(frame, node, skip, SKIPPED)
            case slot:
                self.scheduler.put(frame, node.outputs["out"], self.scheduler.take(frame, slot))
                self.scheduler.finish(frame, node, DONE)

    def _pull_second(self, frame: Frame, node: PlanNode) -> None:
        """Demand the second source of a fallback once the first is a skip."""
        second = second_source(node)
        is_first_skipped = type(frame.values[node.feeds[0].slots[0]]) is Skip
        if second is not None and is_first_skipped and frame.plan.uses is not None:
            self.scheduler.pulling.demand(frame, [second])

    def _skip(self, frame: Frame, node: PlanNode, skipped: Skipped) -> None:
        path = frame.path_of(node)
        if skipped.live and skipped.dead and node.is_visible:
            dead, live = ", ".join(skipped.dead), ", ".join(skipped.live)
            problem = NODE_UNRELEASED(path, without=dead, with_value=live)
            self.scheduler.warn(path, "join_unreleased", str(problem))
        skip = Skip(path, f"{_port_text(node, skipped.port)} has no value", skipped.cause)
        self.settle_all(frame, node, skip, SKIPPED)

    def disabled(self, frame: Frame, node: PlanNode) -> None:
        """Settle a node that is disabled (S4.7)."""
        self.settle_all(frame, node, Skip(frame.path_of(node), "disabled"), SKIPPED)

    def settle_all(self, frame: Frame, node: PlanNode, token: Skip | Errored, state: int) -> None:
        """Settle all ports of a node with one token, and finish it."""
        frame.note_reason(node.index, token)
        for slot in node.outputs.values():
            self.scheduler.put(frame, slot, token)
        self.scheduler.finish(frame, node, state)


def tokens_of(
    frame: Frame, node: PlanNode, call: Call, outputs: Mapping[str, Any]
) -> Iterator[tuple[int, Any]]:
    """Yield the slots of a node that returned, with their tokens (S3.2)."""
    for port, slot in node.outputs.items():
        if port == DONE_PORT:
            yield slot, Signal()
        elif (value := outputs.get(port, SKIP)) is not SKIP:
            yield slot, value
        elif port == ERROR_PORT:
            yield slot, _no_failure(frame, node)
        else:
            reason = f"exit {port!r} not taken" if port in call.exits else f"port {port!r} not emitted"
            yield slot, Skip(frame.path_of(node), reason)


def _port_text(node: PlanNode, port: str) -> str:
    """Return the name of a port of a node, or of the list of a map that `each` has opened."""
    if isinstance(node.action, MapOf):
        return next(f"the list {feed.labels[0]}" for feed in node.feeds if feed.port == port)
    return f"port {port!r}"


def _no_failure(frame: Frame, node: PlanNode) -> Skip:
    return Skip(frame.path_of(node), "succeeded, so there is no failure")
