"""Frames: the state of one instance of a scope, and of what a loop or map has opened (S2.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataflow.failure import Failure
    from dataflow.plan import PlanNode, ScopePlan
    from dataflow.tokens import Errored, Skip

__all__ = ["Frame", "Opened", "OpenedLoop", "OpenedMap"]


class Frame:
    """One instance of a scope. `values` is indexed by slot; `waits` and `states` by node."""

    __slots__ = (
        "awaits", "closed_by", "error", "is_closing", "name", "number", "odd", "opened", "owner", "parent",
        "plan", "reasons", "states", "unsettled", "values", "waits",
    )  # fmt: skip

    def __init__(
        self, plan: ScopePlan, number: int, parent: Frame | None = None, owner: int = -1, name: str = ""
    ) -> None:
        self.plan = plan
        self.number = number  # frames are numbered as they open
        self.parent = parent
        self.owner = owner  # the node of the parent that opened it
        self.name = name  # the round, the index or the key
        self.values: list[Any] = plan.initial.copy()
        self.waits = plan.waits.copy()  # slots that each node still waits for
        self.states = bytearray(len(plan.nodes))  # each WAITING
        self.unsettled = len(plan.nodes)  # nodes and awaited imports that have not come to their end
        self.awaits: set[int] = set()  # the imports among them
        self.odd: set[int] = set()  # nodes of which an input is a skip or an error
        self.opened: dict[int, Opened] = {}  # by the node that opened it
        self.reasons: dict[int, Skip | Errored] = {}  # why nodes were skipped, not run, failed or cancelled
        self.error: Failure | None = None  # the first failure that nothing in the frame handled
        self.closed_by: Skip | Errored | None = None  # why it is closing
        self.is_closing = False  # failed or cancelled: nothing more starts in it

    def path(self) -> str:
        """Return the frame's part of its nodes' paths; empty for the root (S2.2)."""
        if self.parent is None:
            return ""
        return f"{self.parent.path_of(self.parent.plan.nodes[self.owner])}[{self.name}]"

    def path_of(self, node: PlanNode) -> str:
        """Return the path of a node of this frame."""
        path = self.path()
        if node.names_frame:
            return path
        return f"{path}/{node.label}" if path else node.label

    def release(self) -> None:
        """Let the values go; states and reasons stay (S8.5)."""
        self.values = []
        self.waits = []
        self.odd = set()


@dataclass(slots=True, eq=False)
class Opened:
    """What a loop or map has opened. `live` are the frames that have not ended."""

    live: dict[int, Frame] = field(default_factory=dict)  # by the frame's number
    frames: list[Frame] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class OpenedMap(Opened):
    """A map being run: what each output has collected so far, and how many items it still lacks."""

    error: Failure | None = None
    collected: dict[int, list[Any]] = field(default_factory=dict)
    lacking: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class OpenedLoop(Opened):
    """A loop being run."""

    round: int = 0  # rounds that have ended
    carried: dict[str, Any] = field(default_factory=dict)  # what the current round began with
    results: dict[int, Any] = field(default_factory=dict)  # last live values, by the owner's slot
    dead: dict[int, Skip | Errored] = field(default_factory=dict)  # last skips and errors, likewise
    ends: str | None = None  # why there will be no further round, once the test has told
