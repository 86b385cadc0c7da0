"""Frames: the state of one instance of a scope, and of what a loop, map or flow node has opened (S2.4)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dataflow.compiler.plan import FlowOf
from dataflow.core.states import LET_GO, READY, WAITING, is_dead

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dataflow.base.failure import Failure
    from dataflow.compiler.plan import PlanNode, ScopePlan
    from dataflow.core.policy import Errors
    from dataflow.core.states import Errored, LoopEnd, Skip
    from dataflow.errors import NodeTimeout
    from dataflow.scheduler.timers import Timer


class _Nothing(dict[Any, Any]):
    """A dict that nothing can be written to; reading it costs no more than reading any other."""

    def _refuse(self, *_: object, **__: object) -> Any:
        raise AssertionError("what frames share is written to by none")

    __setitem__ = __delitem__ = update = setdefault = pop = _refuse


#: What frames share until they write to it; nothing can be written to these.
_NONE: Final[Any] = _Nothing()
_NOBODY: Final[Any] = frozenset()
_NO_VALUES: Final[Any] = ()

__all__ = [
    "Arriving",
    "FiringId",
    "Frame",
    "Opened",
    "OpenedFlow",
    "OpenedLoop",
    "OpenedMap",
    "RetryState",
    "Unhandled",
]


#: Which firing: the frame it is in and the number of its node.
FiringId: TypeAlias = "tuple[Frame, int]"


@dataclass(frozen=True, slots=True, order=True)
class Unhandled:
    """A failure that nothing has handled so far; they are told in the order of their nodes (S14.1).

    `error` is None where the failure came in from outside, and is told there.
    """

    index: int  # the node in the frame that the failure has got to
    failure: Failure = field(compare=False)
    error: BaseException | None = field(compare=False)


@dataclass(slots=True)
class RetryState:
    """The attempts at one firing so far."""

    number: int = 1  # of the current one
    earlier: int = 0  # how many of them were in earlier sittings of the run, and count no more
    begun: float | None = None  # when the first began, on the clock of the run's event loop
    is_last: bool = False  # whatever it ends with, none follows: the fault is not the call's
    has_pieces: bool = False  # the current one has given out pieces
    waits: Timer | None = None  # until the current one begins
    ends: Timer | None = None  # until the time of all is over, for those that wait then


class Frame:
    """One instance of a scope. `values` is indexed by slot; `waits` and `states` by node."""

    __slots__ = (
        "attempts", "awaits", "closed_by", "dead_inputs", "digests", "errors", "failures",
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
        self.number = number  # frames are numbered as they open
        self.errors = errors  # what an unhandled failure does to the frame (S9.4)
        self.parent = parent
        self.owner = owner  # the node of the parent that opened it
        self.name = name  # the round, the index, the key, or the attempt from the second on
        self.position = 0  # of an item in its map
        self.values: list[Any] = plan.initial.copy()
        self.waits = plan.waits.copy()  # slots that each node still waits for
        #: By slot: the nodes that have not come to their end and read or fill it, one more until its value
        #: is told, and one for ever if it is read at the end; None if values are kept.
        self.holders = None if keep else plan.holders.copy()
        self.states = plan.states.copy()
        #: Demanded nodes, and awaited imports, that have not come to their end.
        self.unsettled = plan.demanded
        self.awaits: set[int] = _NOBODY  # the imports among them
        self.dead_inputs: set[int] = _NOBODY  # nodes of which an input is a skip or an error
        self.attempts: dict[int, RetryState] = _NONE  # of nodes that may have several, or gave out pieces
        self.opened: dict[int, Opened] = _NONE  # by the node that opened it
        self.reasons: dict[int, Skip | Errored] = (
            _NONE  # why nodes were skipped, not run, failed or cancelled
        )
        self.metadata: dict[int, Any] = _NONE  # what raw nodes told of their firings
        self.digests: dict[int, object] = _NONE  # of values by slot, as far as they were needed (S13)
        self.memos: dict[int, Any] = _NONE  # what became of asking the memo, by node; see `MemoTold`
        self.failures: Sequence[Unhandled] = ()  # what nothing in the frame handled
        self.closed_by: Skip | Errored | None = None  # why it is closing
        self.has_ended = False
        self.is_closing = False  # failed or cancelled: nothing more starts in it
        self.undemanded: set[int] = _NOBODY  # nodes that nobody has asked for (S8.1)
        self.pulling: dict[int, set[int]] = _NONE  # lazy slots it waits for, by node
        self.lost: set[tuple[int, int]] = _NOBODY  # edges that lost a race, as race and slot
        self.withdrawn: set[int] = _NOBODY  # nodes that only such edges needed
        self.taken: dict[int, Sequence[Unhandled]] = _NONE  # failures left to races, by node
        if plan.uses is not None:  # only then they are written to
            self.undemanded, self.lost, self.withdrawn = set(plan.deferred), set(), set()
            self.pulling, self.taken = {}, {}

    def count_down(self, calls: Iterable[int]) -> list[FiringId]:
        """Note that a value has come that these calls wait for; returns those that wait for no other."""
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
        """Note that the frame does not end before a value from outside has settled."""
        if self.awaits is _NOBODY:
            self.awaits = set()
        self.awaits.add(slot)
        self.unsettled += 1

    def note_digest(self, slot: int, digest: object) -> None:
        """Note the digest of a value."""
        if self.digests is _NONE:
            self.digests = {}
        self.digests[slot] = digest

    def note_reason(self, index: int, reason: Skip | Errored) -> None:
        """Note why a node was skipped, not run, failed or cancelled."""
        if self.reasons is _NONE:
            self.reasons = {}
        self.reasons[index] = reason

    def note_opened(self, index: int, opened: Opened) -> None:
        """Note what a loop, map or flow node has opened."""
        if self.opened is _NONE:
            self.opened = {}
        self.opened[index] = opened

    def note_failures(self, unhandled: Iterable[Unhandled]) -> None:
        """Note failures that nothing in the frame has handled."""
        if not isinstance(self.failures, list):
            self.failures = []
        self.failures.extend(unhandled)

    def note_metadata(self, index: int, metadata: Mapping[str, Any]) -> None:
        """Note what a raw node told of its last attempt, which may be nothing."""
        if metadata and self.metadata is _NONE:
            self.metadata = {}
        if metadata:
            self.metadata[index] = metadata
        elif self.metadata:
            self.metadata.pop(index, None)

    def note_memo(self, index: int, told: Any) -> None:
        """Note what became of asking the memo for the outcome of a node."""
        if self.memos is _NONE:
            self.memos = {}
        self.memos[index] = told

    def attempts_at(self, index: int) -> RetryState:
        """Return the attempts at a node, which are counted from here on."""
        if self.attempts is _NONE:
            self.attempts = {}
        return self.attempts.setdefault(index, RetryState())

    def path(self) -> str:
        """Return the frame's part of its nodes' paths; empty for the root (S2.2)."""
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
        """Return the path of a node of this frame."""
        if self.parent is None:
            return node.label
        path = self.path()
        if node.names_frame:
            return path
        return f"{path}/{node.label}" if path else node.label

    def let_go(self, slots: Iterable[int]) -> None:
        """Count one holder less of each slot; a value without holders goes, skips and errors stay (S8.5)."""
        holders = self.holders
        if holders is None:
            return
        for slot in slots:
            holders[slot] -= 1
            if not holders[slot] and not is_dead(self.values[slot]):
                self.values[slot] = LET_GO

    def has_stopped(self, index: int) -> bool:
        """Tell whether a node is not to run any more: its frame was closed, or it lost a race."""
        return self.is_closing or index in self.withdrawn

    def attempt_of(self, index: int) -> int:
        """Return which attempt at a node is the current one, or was the last, from 1."""
        attempts = self.attempts.get(index)
        return 1 if attempts is None else attempts.number

    def release(self) -> None:
        """Let the values go; states and reasons stay (S8.5)."""
        self.values = self.waits = _NO_VALUES
        self.holders = None
        self.failures = ()
        self.dead_inputs = _NOBODY
        self.digests = _NONE


@dataclass(slots=True, eq=False)
class Arriving:
    """What has come to a map over edges so far (S7.4)."""

    positions: dict[str, int] = field(default_factory=dict)  # of items by their names, as they came
    is_complete: bool = False  # all edges have settled
    due: deque[tuple[str, Any]] = field(default_factory=deque)  # what items begin with that have not begun


@dataclass(slots=True, eq=False)
class OpenedMap:
    """A map being run, and what each of its outputs has collected so far."""

    names: Sequence[str | int]  # of all items
    lists: Mapping[int, Sequence[Any]]  # what they begin with, by slot of the item
    is_beginning: bool = False  # a step that begins further items is noted
    is_closing: bool = False  # an item has failed the map: no further item begins
    live: dict[int, Frame] = field(default_factory=dict)  # the frames that have not ended, by their number
    frames: list[Frame] = field(default_factory=list)
    failures: dict[int, list[Unhandled]] = field(default_factory=dict)  # of failed items, by position
    collected: dict[int, list[Any]] = field(default_factory=dict)
    lacking: dict[int, int] = field(default_factory=dict)  # of lists that may be read early: items to come
    passed_on: frozenset[int] = frozenset()  # outputs whose values other maps hear of one by one
    arriving: Arriving | None = None  # of a map over edges, which learns of its items as they come

    def release(self) -> None:
        """Let the values go; the frames, with their states and reasons, stay (S8.5)."""
        self.lists = {}
        self.failures = {}
        self.collected = {}
        self.arriving = None


@dataclass(slots=True, eq=False)
class OpenedFlow:
    """A flow node being run: the frame of each attempt."""

    live: dict[int, Frame] = field(default_factory=dict)  # the frame that has not ended, by its number
    frames: list[Frame] = field(default_factory=list)
    late: NodeTimeout | None = None  # the current attempt has taken too long and is being ended
    until: float = inf  # when the current attempt has to have ended, on the clock of the event loop

    def release(self) -> None:
        """Keep the frames, with their states and reasons; they let their values go themselves (S8.5)."""


@dataclass(slots=True, eq=False)
class OpenedLoop:
    """A loop being run."""

    live: dict[int, Frame] = field(default_factory=dict)  # the frame that has not ended, by its number
    frames: list[Frame] = field(default_factory=list)
    round: int = 0  # rounds that have ended
    carried: dict[str, Any] = field(default_factory=dict)  # what the current round began with
    results: dict[int, Any] = field(default_factory=dict)  # last live values, by the owner's slot
    alls: dict[int, list[Any]] = field(default_factory=dict)  # lists of all live values, likewise
    dead: dict[int, Skip | Errored] = field(default_factory=dict)  # last skips and errors, likewise
    ends: LoopEnd | None = None  # why there will be no further round, once the test has told

    def release(self) -> None:
        """Let the values go; the frames, with their states and reasons, stay (S8.5)."""
        self.carried = {}
        self.results = {}
        self.alls = {}
        self.dead = {}


#: What a loop, map or flow node has opened.
Opened: TypeAlias = OpenedLoop | OpenedMap | OpenedFlow
