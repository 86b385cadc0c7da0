"""The nodes of a stored run as its journal reports them, in a list or a tree; the flow is not needed (S12.1).

A path leads through the scopes of a firing: `refine[2]/write` is in round 2 of the loop `refine`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dataflow.core.states import NodeState

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from dataflow.durable.journal_view import Past

__all__ = ["INTERRUPTED", "NodeBranch", "StoredNode", "node_tree", "state_of", "stored_node", "stored_nodes"]

INTERRUPTED: Final = "interrupted"
_LAST: Final = re.compile(r"(.*?)(\[[^\[\]]*\]|~\d+|/[^/\[\]~]+|[^/\[\]~]+)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StoredNode:
    """A firing of a stored run: its state, its times, and why it has ended as it did."""

    path: str
    type: str
    state: str  # a NodeState, or INTERRUPTED
    attempt: int
    started: datetime | None  # the newest attempt
    ended: datetime | None
    seconds: float | None  # of the newest attempt, once it has ended
    reason: str  # empty until it has ended
    items: int | None  # of a map whose items are known
    rounds: int | None  # of a loop

    def as_json(self) -> dict[str, Any]:
        """Return the object that JSON has for it."""
        return {
            "path": self.path,
            "type": self.type,
            "state": self.state,
            "attempt": self.attempt,
            "started": None if self.started is None else self.started.isoformat(),
            "ended": None if self.ended is None else self.ended.isoformat(),
            "reason": self.reason,
        }


@dataclass(slots=True, eq=False)
class NodeBranch:
    """A branch of the tree: a firing, or a round or attempt that has no record of its own."""

    path: str
    name: str  # within the branch around it
    node: StoredNode | None = None
    is_repeated: bool = False  # a loop or map: its branches are rounds or items
    branches: list[NodeBranch] = field(default_factory=list)


def state_of(past: Past, status: str, path: str) -> str:
    """Return the state of a firing in a run of a status; what a dead process left running is interrupted."""
    firing = past.firings[path]
    if firing.state is not None:
        return firing.state.value
    ask = firing.ask
    if ask is not None and ask.values is None and ask.closed is None:
        return NodeState.PAUSED.value
    if firing.next_at is not None or not firing.attempt:
        return NodeState.WAITING.value
    match status:
        case "running":
            return NodeState.RUNNING.value
        case "interrupted":
            return INTERRUPTED
        case "paused":  # it waits for a firing inside it
            return NodeState.PAUSED.value
        case _:
            return NodeState.NOT_RUN.value


def stored_node(past: Past, status: str, path: str) -> StoredNode:
    """Return a firing of a run that has this status."""
    firing = past.firings[path]
    has_ended = firing.state is not None
    return StoredNode(
        path,
        firing.type,
        state_of(past, status, path),
        firing.attempt,
        firing.started,
        firing.ended,
        (firing.ended - firing.started).total_seconds()
        if firing.started is not None and firing.ended is not None and has_ended
        else None,
        firing.reason if has_ended else "",  # an earlier end gives no reason for the attempt after it
        items=past.maps.get(path),
        rounds=None if path in past.maps else past.rounds.get(path),
    )


def stored_nodes(past: Past, status: str) -> Iterator[StoredNode]:
    """Yield the firings of a run that has this status, in the order in which they began."""
    return (stored_node(past, status, path) for path in past.firings)


def node_tree(past: Past, status: str) -> list[NodeBranch]:
    """Return the firings of a run that has this status, each below the scope that it ran in."""
    root = NodeBranch("", "")
    known: dict[str, NodeBranch] = {"": root}
    for node in stored_nodes(past, status):
        missing, place = [], node.path
        while place not in known:
            missing.append(place)
            place = _above(place)
        above = known[place]
        for path in reversed(missing):
            name = path[len(_above(path)) :].removeprefix("/")
            known[path] = NodeBranch(path, name, is_repeated=path in past.maps or path in past.rounds)
            above.branches.append(known[path])
            above = known[path]
        known[node.path].node = node
    return root.branches


def _above(path: str) -> str:
    """Return the path of what contains a path: for an item its map, for an attempt its flow node."""
    parts = _LAST.match(path)
    return parts[1] if parts is not None else ""
