"""The state of each node of a run, for display."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from dataflow.compiler.plan import FlowOf, LoopOf, MapOf
from dataflow.core.events import EventKind
from dataflow.core.states import NodeState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from dataflow.compiler.plan import FlowPlan, PlanNode
    from dataflow.core.events import Event
    from dataflow.durable.journal_view import Past

__all__ = ["Board", "Row", "key_of", "nodes_of_file", "outline"]

#: The parts of a path that distinguish instances of a node: rounds, items, attempts of a subflow (S2.2).
_INSTANCES: Final = re.compile(r"\[[^\]]*\]|~\d+")
_BY_WEIGHT: Final = (
    NodeState.FAILED,
    NodeState.TIMED_OUT,
    NodeState.CANCELLED,
    NodeState.DONE,
    NodeState.SKIPPED,
    NodeState.NOT_RUN,
)
#: The states of firings that a resumed run does not repeat.
_SETTLED: Final = (NodeState.DONE, NodeState.SKIPPED, NodeState.FAILED, NodeState.TIMED_OUT)
MOST_RECENT: Final = 100


@dataclass(slots=True, eq=False)
class Row:
    """A node over all its rounds and items."""

    key: str
    order: int
    parent: Row | None = None
    opens: str = ""  # "loop" or "map" if it opens scope instances
    limit: int | None = None  # of a loop
    names_items: bool = False  # the row of a map and of the node that the map is named by
    active: set[str] = field(default_factory=set)  # paths of running firings, including open maps and loops
    ended: Counter[NodeState] = field(default_factory=Counter)  # firings
    outcome: NodeState | None = None  # how the map or loop itself ended
    items: int = 0  # of all maps that were opened
    rounds: int = 0
    since: datetime | None = None  # running since this time
    asking: dict[str, str] = field(default_factory=dict)  # the prompts of open asks, by path
    spent: float = 0.0  # seconds of earlier execution

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth + 1

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]

    @property
    def state(self) -> NodeState:
        """The displayed state: running, else paused, else the gravest final state, else waiting."""
        if self.active:
            return NodeState.RUNNING
        if self.asking:
            return NodeState.PAUSED
        if self.outcome is not None:
            return self.outcome
        return next((state for state in _BY_WEIGHT if self.ended[state]), NodeState.WAITING)

    @property
    def expected(self) -> int:
        """The number of firings expected by the opened maps; 0 if unknown."""
        if self.opens == "map":
            return self.items
        return self.parent.items if self.parent is not None and self.parent.opens == "map" else 0

    def seconds(self, now: datetime) -> float:
        """Return the seconds of execution up to a time."""
        return self.spent + (0.0 if self.since is None else (now - self.since).total_seconds())

    def began(self, path: str, moment: datetime) -> None:
        if not self.active:
            self.since = moment
        self.active.add(path)

    def stopped(self, path: str, moment: datetime) -> None:
        self.active.discard(path)
        if not self.active:
            self.spent, self.since = self.seconds(moment), None


class Board:
    """The rows of a run, in the order of the flow."""

    def __init__(self, plan: FlowPlan | None = None) -> None:
        self.rows: dict[str, Row] = {}
        self.active: dict[str, Row] = {}  # running
        self.failed: dict[str, Row] = {}
        self.asking: dict[str, Row] = {}
        self.recent: dict[str, Row] = {}  # ended most recently, the latest last
        self._recalled: dict[str, tuple[NodeState | None, int, int]] = {}  # from earlier execution sessions
        for key, node in outline(plan) if plan is not None else ():
            row = self._row(key)
            match node.action:
                case LoopOf(limit=limit):
                    row.opens, row.limit = "loop", limit
                case MapOf():
                    row.opens = "map"
                case _:
                    row.names_items = node.names_frame

    def apply(self, event: Event) -> None:
        """Update the rows by an event."""
        if event.kind is EventKind.RUN_RESUMED:
            for path in event.data.get("forgotten", ()):
                if (row := self.rows.get(key_of(path))) is not None:
                    self._stop(row, path, event.time)
                    self._forget(row, path, begins_again=True)
        if not event.path:
            return
        row = self._row(key_of(event.path))
        match event.kind:
            case EventKind.NODE_STARTED:
                if event.data["type"] in ("loop", "map"):
                    row.opens = event.data["type"]
                self._forget(row, event.path)
                row.began(event.path, event.time)
                self.active[row.key] = row
            case EventKind.NODE_FINISHED:
                self._forget(row, event.path)
                self._ended(row, event.path, NodeState(event.data["state"]), event.time)
            case EventKind.ASK_OPENED:
                self._asks(row, event.path, event.data["prompt"], event.time)
            case EventKind.ASK_ANSWERED | EventKind.ASK_CLOSED:
                self._asks_no_more(row, event.path)
            case EventKind.LOOP_ROUND:
                row.rounds += 1
            case EventKind.MAP_OPENED:
                row.items += event.data["items"] or 0  # unknown for a map over edges
            case _:
                pass

    def recall(self, past: Past, readable: Callable[[Any], Any], now: datetime) -> None:
        """Update the rows by the journal of a resumed run; firings that run again are forgotten later."""
        for path, firing in past.firings.items():
            row = self.rows.get(key_of(path))
            if row is None:  # a removed node
                continue
            state, rounds, items = firing.state, past.rounds.get(path, 0), past.maps.get(path) or 0
            if state in _SETTLED and path not in past.failures:
                self._ended(row, path, state, now)
            elif firing.is_opener and firing.attempt:
                state = None
                row.began(path, now)
                self.active[row.key] = row
            else:
                continue
            row.rounds += rounds
            row.items += items
            self._recalled[path] = state, rounds, items
        for path, ask in past.open_asks.items():
            if (asked := self.rows.get(key_of(path))) is not None:
                self._asks(asked, path, str(readable(ask.told["prompt"])), now)

    def _forget(self, row: Row, path: str, *, begins_again: bool = False) -> None:
        """Undo the recall of a firing; an open one keeps its rounds unless it begins again."""
        state, rounds, items = self._recalled.pop(path, (None, 0, 0))
        if state is None and not begins_again:
            return
        row.rounds -= rounds
        row.items -= items
        if state is None:
            return
        if row.outcome is state and _is_whole(row, path):
            row.outcome = None
        else:
            row.ended[state] -= 1

    def _stop(self, row: Row, path: str, moment: datetime) -> None:
        row.stopped(path, moment)
        if not row.active:
            self.active.pop(row.key, None)

    def _asks(self, row: Row, path: str, prompt: str, moment: datetime) -> None:
        self._stop(row, path, moment)
        row.asking[path] = prompt
        self.asking[row.key] = row

    def _asks_no_more(self, row: Row, path: str) -> None:
        row.asking.pop(path, None)
        if not row.asking:
            self.asking.pop(row.key, None)

    def _ended(self, row: Row, path: str, state: NodeState, moment: datetime) -> None:
        row.stopped(path, moment)
        self._asks_no_more(row, path)
        if _is_whole(row, path):
            row.outcome = state
        else:
            row.ended[state] += 1
        if state in (NodeState.FAILED, NodeState.TIMED_OUT):
            self.failed[row.key] = row
        if not row.active:
            self.active.pop(row.key, None)
        self.recent.pop(row.key, None)
        self.recent[row.key] = row
        if len(self.recent) > MOST_RECENT:
            del self.recent[next(iter(self.recent))]

    def _row(self, key: str) -> Row:
        """Return the row of a key; a key that is not in the plan gets a new row at the end."""
        row = self.rows.get(key)
        if row is None:
            above, slash, _ = key.rpartition("/")
            row = Row(key, len(self.rows), self._row(above) if slash else None)
            row.order = len(self.rows)
            self.rows[key] = row
        return row

    def select(self, most: int) -> list[Row]:
        """Choose the rows to show: all, or first failed, asking and running ones, then the most recent."""
        if len(self.rows) <= most:
            return self._in_order(self.rows.values())
        chosen: dict[str, Row] = {}
        share = max(most // 3, 1)
        recent = reversed(self.recent.values())
        urgent = (self.failed, share), (self.asking, share), (self.active, most)
        for rows, room in (*((rows.values(), room) for rows, room in urgent), (recent, most)):
            _choose(chosen, rows, min(most, len(chosen) + room))
        _choose(chosen, self.rows.values(), most)
        return self._in_order(chosen.values())

    def _in_order(self, rows: Iterable[Row]) -> list[Row]:
        return sorted(rows, key=_place)


def _is_whole(row: Row, path: str) -> bool:
    """Return whether a path is that of the map or loop itself, not of the item named by it."""
    return bool(row.opens) and not path.endswith("]")


def _place(row: Row) -> tuple[int, ...]:
    """Return the sort key of a row, which places it below its parent."""
    return (*(_place(row.parent) if row.parent is not None else ()), row.order)


def _choose(chosen: dict[str, Row], rows: Iterable[Row], most: int) -> None:
    """Add rows with their parents while there is room."""
    for row in islice(rows, 4 * most):
        if len(chosen) >= most:
            return
        lineage = []
        above: Row | None = row
        while above is not None and above.key not in chosen:
            lineage.append(above)
            above = above.parent
        if len(chosen) + len(lineage) <= most:
            chosen.update((one.key, one) for one in lineage)


def key_of(path: str) -> str:
    """Return the key of the row of a path: the path without rounds, items and attempts."""
    return _INSTANCES.sub("", path)


def outline(plan: FlowPlan, around: str = "") -> Iterator[tuple[str, PlanNode]]:
    """Yield the visible nodes of a plan, each with the key of its row; `around` is the key of the subflow."""
    todo: list[tuple[str, PlanNode]] = [(around, node) for node in reversed(plan.root.nodes)]
    while todo:
        above, node = todo.pop()
        key = above if node.names_frame else f"{above}/{node.label}" if above else node.label
        if node.is_visible:
            yield key, node
        if isinstance(node.action, LoopOf | MapOf):
            todo.extend((key, inner) for inner in reversed(node.action.body.nodes))


def nodes_of_file(plan: FlowPlan) -> frozenset[str] | None:
    """Return the keys of the nodes that have progress lines; None for a native flow, where all have.

    In a flow that was translated from a file of another system these are the nodes of the file, a `start` and
    a `result` that the translation has added, and subflows inside them, as parallel steps. The other nodes
    are details of the translation.
    """
    if not any(map(_is_made, _plans_in(plan))):
        return None
    found: set[str] = set()
    flows = [("", plan, False)]  # each with whether it is inside a translated one
    for around, flow, is_within in flows:  # grows while it is walked
        hides = is_within or _is_made(flow)
        for key, node in outline(flow, around):
            inner = node.action.plan if isinstance(node.action, FlowOf) else None
            is_written = inner is not None and inner.wiring.places is not None  # not that of a node type
            if is_written or not is_within:
                found.add(key)
            if inner is not None and (is_written or not hides):
                flows.append((key, inner, hides))
    return frozenset(found)


def _plans_in(plan: FlowPlan) -> list[FlowPlan]:
    """List a flow and its subflows, each once."""
    found, seen = [plan], {id(plan)}
    for flow in found:  # grows while it is walked
        for _, node in outline(flow):
            if isinstance(node.action, FlowOf) and id(node.action.plan) not in seen:
                seen.add(id(node.action.plan))
                found.append(node.action.plan)
    return found


def _is_made(plan: FlowPlan) -> bool:
    """Return whether a flow was translated from a file of another system."""
    if not plan.wiring.meta:
        return False
    from dataflow.formats.foreign import MADE_OF  # loaded only for flows with metadata

    return MADE_OF in plan.wiring.meta
