"""Frames: the state of one instance of a scope, and of what a loop, map or subflow has opened (S2.4)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dataflow.base.copies import own_copies, own_copy
from dataflow.compiler.plan import FlowOf
from dataflow.core.states import DONE, READY, RELEASED, RUNNING, WAITING, is_dead

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence

    from dataflow.base.failure import Failure
    from dataflow.compiler.plan import PlanNode, QuickCall, QuickEnd, ScopePlan
    from dataflow.core.policy import Errors
    from dataflow.core.states import Errored, LoopEnd, Skip
    from dataflow.errors import NodeTimeout
    from dataflow.scheduler.timers import Timer

__all__ = [
    "ArrivedItems",
    "FiringId",
    "Frame",
    "Opened",
    "OpenedFlow",
    "OpenedLoop",
    "OpenedMap",
    "RetryState",
    "Unhandled",
]


#: A firing: its scope instance and the index of its node.
FiringId: TypeAlias = "tuple[Frame, int]"


class _Nothing(dict[Any, Any]):
    """A read-only dict; reading it is as fast as reading any other."""

    def _refuse(self, *_: object, **__: object) -> Any:
        raise AssertionError("what frames share is written to by none")

    __setitem__ = __delitem__ = update = setdefault = pop = _refuse


#: Shared by scope instances until they write to it; read-only.
_NONE: Final[Any] = _Nothing()
_NOBODY: Final[Any] = frozenset()
_NO_VALUES: Final[Any] = ()


@dataclass(frozen=True, slots=True, order=True)
class Unhandled:
    """A failure that nothing has handled so far; reported in the order of the nodes (S14.1).

    `error` is None if the failure came in from outside, where it is reported.
    """

    index: int  # the node in the scope instance that the failure has reached
    failure: Failure = field(compare=False)
    error: BaseException | None = field(compare=False)


@dataclass(slots=True)
class RetryState:
    """The attempts at one firing so far."""

    number: int = 1  # of the current one
    earlier: int = 0  # how many of them were in earlier execution sessions, and no longer count
    begun: float | None = None  # when the first began, on the clock of the run's event loop
    is_last: bool = False  # no retry follows, whatever the outcome: the failure is not the call's
    has_pieces: bool = False  # the current one has emitted pieces
    waits: Timer | None = None  # until the current one begins
    ends: Timer | None = None  # until the deadline of the firing, for attempts that wait then


class Frame:
    """One instance of a scope. `values` is indexed by slot; `waits` and `states` by node."""

    __slots__ = (
        "attempts", "awaits", "closed_by", "dead_inputs", "digests", "durations", "errors", "failures",
        "has_ended", "holders", "is_closing", "lost", "memos", "metadata", "name", "number",
        "opened", "owner", "parent", "plan", "position", "pulling", "reasons", "states", "taken",
        "undemanded", "unsettled", "values", "waits", "withdrawn",
    )  # fmt: skip

    def __init__(
        self,
        plan: ScopePlan,
        number: int,
        errors: Errors,
        parent: Frame | None = None,
        owner: int = -1,
        name: str | int = "",
        keep: bool = True,
    ) -> None:
        self.plan = plan
        self.number = number  # in the order of opening
        self.errors = errors  # what an unhandled failure does to the scope instance (S9.4)
        self.parent = parent
        self.owner = owner  # the node of the parent that opened it
        self.name = name  # the iteration, the index, the key, or the attempt from the second on
        self.position = 0  # of an item in its map
        self.values: list[Any] = plan.initial.copy()
        self.waits = plan.waits.copy()  # number of slots that each node still waits for
        #: Reference counts by slot: unfinished nodes that read or fill it, one more until its value is
        #: propagated, and a permanent one if it is read at the end; None if values are kept.
        self.holders = None if keep else plan.holders.copy()
        self.states = plan.states.copy()
        self.durations = plan.durations.copy()  # seconds of the attempts at each call, together
        #: Unfinished demanded nodes, and awaited imports.
        self.unsettled = plan.demanded
        self.awaits: set[int] = _NOBODY  # the imports among them
        self.dead_inputs: set[int] = _NOBODY  # nodes with a skip or an error on an input
        self.attempts: dict[int, RetryState] = _NONE  # of nodes that may have several, or emitted pieces
        self.opened: dict[int, Opened] = _NONE  # by the node that opened it
        self.reasons: dict[int, Skip | Errored] = (
            _NONE  # why nodes were skipped, not run, failed or cancelled
        )
        self.metadata: dict[int, Any] = _NONE  # of raw nodes
        # content hashes of values by slot, as far as they were needed (S13)
        self.digests: dict[int, object] = _NONE
        self.memos: dict[int, Any] = _NONE  # results of cache lookups, by node; see `MemoReport`
        self.failures: Sequence[Unhandled] = ()  # unhandled ones
        self.closed_by: Skip | Errored | None = None  # why it is closing
        self.has_ended = False
        self.is_closing = False  # failed or cancelled: nothing more starts in it
        self.undemanded: set[int] = _NOBODY  # nodes that were not demanded (S8.1)
        self.pulling: dict[int, set[int]] = _NONE  # lazy slots it waits for, by node
        self.lost: set[tuple[int, int]] = _NOBODY  # edges that lost a race, as race and slot
        self.withdrawn: set[int] = _NOBODY  # nodes that only such edges needed
        self.taken: dict[int, Sequence[Unhandled]] = _NONE  # failures left to races, by node
        if plan.uses is not None:  # only then they are written to
            self.undemanded, self.lost, self.withdrawn = set(plan.deferred), set(), set()
            self.pulling, self.taken = {}, {}

    def call(self, index: int, quick: QuickCall) -> Coroutine[Any, Any, Any]:
        """Call the function of a node that is ready with its values; the node is running from here on."""
        self.states[index] = RUNNING
        if quick.take is None:
            value = self.values[quick.slot]
            return quick.function(own_copy(value) if quick.is_shared else value)
        values = quick.take(self.values)
        return quick.function(*(own_copies(values) if quick.is_shared else values))

    def complete(self, index: int, end: QuickEnd, value: Any, ready: deque[FiringId]) -> FiringId | None:
        """Settle a call whose value only calls read; return the firing to run next (S14.2).

        That is the first call which becomes ready; the others wait behind those that are `ready`.
        """
        states, waits = self.states, self.waits
        self.values[end.out], states[index] = value, DONE
        self.unsettled -= 1
        first: FiringId | None = None
        for reader in end.calls or ():
            waits[reader] = left = waits[reader] - 1
            if not left and states[reader] == WAITING:
                states[reader] = READY
                if first is None:
                    first = (self, reader)
                else:
                    ready.append((self, reader))
        return first if first is not None else ready.popleft() if ready else None

    def give(self, slot: int, value: Any) -> list[FiringId]:
        """Settle a slot that only calls read; return those that wait for no other."""
        self.values[slot] = value
        return self.count_down(self.plan.calls[slot] or ())

    def end_with(self, index: int) -> None:
        """End with the last node, which is done; nothing in the scope instance has failed."""
        self.states[index], self.unsettled, self.has_ended = DONE, 0, True

    def count_down(self, calls: Iterable[int]) -> list[FiringId]:
        """Count down the calls that wait for a new value; return those that wait for no other."""
        states, waits = self.states, self.waits
        newly: list[FiringId] = []
        for index in calls:
            waits[index] = left = waits[index] - 1
            if not left and states[index] == WAITING:
                states[index] = READY
                newly.append((self, index))
        return newly

    def note_dead_input(self, index: int) -> None:
        """Note that an input of a node is a skip or an error."""
        if self.dead_inputs is _NOBODY:
            self.dead_inputs = set()
        self.dead_inputs.add(index)

    def note_awaited(self, slot: int) -> None:
        """Note that the scope instance does not end before a value from outside has settled."""
        if self.awaits is _NOBODY:
            self.awaits = set()
        self.awaits.add(slot)
        self.unsettled += 1

    def note_digest(self, slot: int, digest: object) -> None:
        """Note the content hash of a value."""
        if self.digests is _NONE:
            self.digests = {}
        self.digests[slot] = digest

    def note_reason(self, index: int, reason: Skip | Errored) -> None:
        """Note why a node was skipped, not run, failed or cancelled."""
        if self.reasons is _NONE:
            self.reasons = {}
        self.reasons[index] = reason

    def note_opened(self, index: int, opened: Opened) -> None:
        """Note what a loop, map or subflow has opened."""
        if self.opened is _NONE:
            self.opened = {}
        self.opened[index] = opened

    def note_failures(self, unhandled: Iterable[Unhandled]) -> None:
        """Note failures that nothing in the scope instance has handled."""
        if not isinstance(self.failures, list):
            self.failures = []
        self.failures.extend(unhandled)

    def note_metadata(self, index: int, metadata: Mapping[str, Any]) -> None:
        """Note the metadata of a raw node's last attempt, which may be empty."""
        if metadata and self.metadata is _NONE:
            self.metadata = {}
        if metadata:
            self.metadata[index] = metadata
        elif self.metadata:
            self.metadata.pop(index, None)

    def note_memo(self, index: int, report: Any) -> None:
        """Note the result of a cache lookup for a node."""
        if self.memos is _NONE:
            self.memos = {}
        self.memos[index] = report

    def begin(self, index: int) -> None:
        """Note that a call begins."""
        self.states[index] = RUNNING

    def note_duration(self, index: int, attempt: int, seconds: float) -> None:
        """Note how long an attempt at a call took."""
        self.durations[index] = seconds if attempt == 1 else self.durations[index] + seconds

    def attempts_at(self, index: int) -> RetryState:
        """Return the attempts at a node, which are counted from here on."""
        if self.attempts is _NONE:
            self.attempts = {}
        return self.attempts.setdefault(index, RetryState())

    def path(self) -> str:
        """Return the scope instance's part of its nodes' paths; empty for the root (S2.2)."""
        if self.parent is None:
            return ""
        parts: list[str] = []
        frame = self
        while frame.parent is not None:
            owner = frame.parent.plan.nodes[frame.owner]
            label = (
                "" if owner.names_frame else f"{'/' if frame.parent.parent is not None else ''}{owner.label}"
            )
            is_flow = isinstance(owner.action, FlowOf)
            parts.append(f"{label}{frame.name}" if is_flow else f"{label}[{frame.name}]")
            frame = frame.parent
        return "".join(reversed(parts))

    def path_of(self, node: PlanNode) -> str:
        """Return the path of a node of this scope instance."""
        if self.parent is None:
            return node.label
        path = self.path()
        if node.names_frame:
            return path
        return f"{path}/{node.label}" if path else node.label

    def let_go(self, slots: Iterable[int]) -> None:
        """Drop one reference to each slot; unreferenced values are released, skips and errors stay (S8.5)."""
        holders = self.holders
        if holders is None:
            return
        for slot in slots:
            holders[slot] -= 1
            if not holders[slot] and not is_dead(self.values[slot]):
                self.values[slot] = RELEASED

    def has_stopped(self, index: int) -> bool:
        """Return whether a node must not run any more: its scope instance was closed, or it lost a race."""
        return self.is_closing or index in self.withdrawn

    def attempt_of(self, index: int) -> int:
        """Return the number of the current or last attempt at a node, from 1."""
        attempts = self.attempts.get(index)
        return 1 if attempts is None else attempts.number

    def release(self) -> None:
        """Release the values; states and reasons stay (S8.5)."""
        self.values = self.waits = _NO_VALUES
        self.holders = None
        self.failures = ()
        self.dead_inputs = _NOBODY
        self.digests = _NONE


@dataclass(slots=True, eq=False)
class ArrivedItems:
    """The arrivals at a map over edges so far (S7.4)."""

    # of items by their names, in the order of arrival
    positions: dict[str, int] = field(default_factory=dict)
    is_complete: bool = False  # all edges have settled
    due: deque[tuple[str, Any]] = field(default_factory=deque)  # values of items that have not begun


@dataclass(slots=True, eq=False)
class OpenedMap:
    """A running map, and what each of its outputs has collected so far."""

    names: Sequence[str | int]  # of all items
    lists: Mapping[int, Sequence[Any]]  # what they begin with, by slot of the item
    is_beginning: bool = False  # a step that begins further items is scheduled
    is_closing: bool = False  # an item has failed the map: no further item begins
    live: dict[int, Frame] = field(default_factory=dict)  # the scope instances that have not ended, by number
    frames: list[Frame] = field(default_factory=list)
    failures: dict[int, list[Unhandled]] = field(default_factory=dict)  # of failed items, by position
    collected: dict[int, list[Any]] = field(default_factory=dict)
    # number of missing items of lists that may be read early
    missing: dict[int, int] = field(default_factory=dict)
    passed_on: frozenset[int] = frozenset()  # outputs whose values other maps read one by one
    arrived: ArrivedItems | None = None  # of a map over edges, whose items arrive one by one
    begun: float = 0.0  # on the clock of the run
    seconds: float | None = None  # from there to its end

    def release(self, now: float) -> None:
        """Release the values; the scope instances, with their states and reasons, stay (S8.5)."""
        self.seconds = now - self.begun
        self.lists = {}
        self.failures = {}
        self.collected = {}
        self.arrived = None


@dataclass(slots=True, eq=False)
class OpenedFlow:
    """A running subflow: the scope instance of each attempt."""

    live: dict[int, Frame] = field(default_factory=dict)  # the scope instance that has not ended, by number
    frames: list[Frame] = field(default_factory=list)
    late: NodeTimeout | None = None  # the current attempt has timed out and is being ended
    until: float = inf  # the deadline of the current attempt, on the clock of the event loop
    begun: float = 0.0  # on the clock of the run
    seconds: float | None = None  # from there to its end

    def release(self, now: float) -> None:
        """Keep the scope instances, with states and reasons; they release their values themselves (S8.5)."""
        self.seconds = now - self.begun


@dataclass(slots=True, eq=False)
class OpenedLoop:
    """A running loop."""

    live: dict[int, Frame] = field(default_factory=dict)  # the scope instance that has not ended, by number
    frames: list[Frame] = field(default_factory=list)
    round: int = 0  # number of iterations that have ended
    carried: dict[str, Any] = field(default_factory=dict)  # loop variables of the current iteration
    results: dict[int, Any] = field(default_factory=dict)  # last values, by the owner's slot
    alls: dict[int, list[Any]] = field(default_factory=dict)  # lists of all values, by the owner's slot
    # last skips and errors, by the owner's slot
    dead: dict[int, Skip | Errored] = field(default_factory=dict)
    ends: LoopEnd | None = None  # why no further iteration follows, once the test has decided
    begun: float = 0.0  # on the clock of the run
    seconds: float | None = None  # from there to its end

    def release(self, now: float) -> None:
        """Release the values; the scope instances, with their states and reasons, stay (S8.5)."""
        self.seconds = now - self.begun
        self.carried = {}
        self.results = {}
        self.alls = {}
        self.dead = {}


#: What a loop, map or subflow has opened.
Opened: TypeAlias = OpenedLoop | OpenedMap | OpenedFlow


def root_of(frame: Frame) -> Frame:
    """Return the frame of the run that a frame is in."""
    while frame.parent is not None:
        frame = frame.parent
    return frame


def firings_in(root: Frame) -> Iterator[tuple[str, Frame, PlanNode]]:
    """Yield the firings of a run with their paths, those of inner frames after those of their own."""
    todo = [root]
    while todo:
        frame = todo.pop()
        for node in frame.plan.nodes:
            if node.is_visible:
                yield frame.path_of(node), frame, node
        for index in sorted(frame.opened, reverse=True):  # not in the order in which they were opened
            todo.extend(reversed(frame.opened[index].frames))
