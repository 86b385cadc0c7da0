"""Read a stored run from its journal: its record, the tree of its nodes, one firing."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dataflow.core.events import EventKind
from dataflow.core.states import NodeState
from dataflow.diagnostics.stores import NODE_NOT_BEGUN, NODE_NOT_IN_RUN
from dataflow.durable.graph_signature import FlowShape
from dataflow.durable.journal_view import fold
from dataflow.durable.storable import FlowReads
from dataflow.errors import NameUnknown
from dataflow.inspection.json_values import StoredValues
from dataflow.inspection.stored_outputs import UNKNOWN, token_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from dataflow.durable.journal_view import Past
    from dataflow.inspection.open_asks import OpenAsk
    from dataflow.inspection.stored_outputs import Token
    from dataflow.stores import Record, Store, StoredRun

__all__ = [
    "INTERRUPTED",
    "NodeBranch",
    "PastRun",
    "StoredNode",
    "firing_object",
    "node_tree",
    "output_object",
    "read_run",
    "record_object",
    "run_object",
    "state_of",
    "stored_node",
    "stored_nodes",
]

INTERRUPTED: Final = "interrupted"
_LAST: Final = re.compile(r"(.*?)(\[[^\[\]]*\]|~\d+|/[^/\[\]~]+|[^/\[\]~]+)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StoredNode:
    """A firing of a stored run: its state, its times, and the reason of its end."""

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
        """Return it as a JSON object."""
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
    """A branch of the tree: a firing, or an iteration or attempt without its own record."""

    path: str
    name: str  # relative to the branch around it
    node: StoredNode | None = None
    is_repeated: bool = False  # a loop or map: its branches are iterations or items
    branches: list[NodeBranch] = field(default_factory=list)


def state_of(past: Past, status: str, path: str, paused: Collection[str]) -> str:
    """Return the state of a firing in a run of a status; firings of a dead process are interrupted.

    `paused` has the paths of the loops, maps and subflows that have paused.
    """
    firing = past.firings[path]
    if firing.state is not None:
        return firing.state.value
    if firing.is_asking:
        return NodeState.PAUSED.value
    if firing.next_at is not None or not firing.attempt:
        return NodeState.WAITING.value
    match status:
        case "running" | "interrupted" if path in paused:
            return NodeState.PAUSED.value
        case "running":
            return NodeState.RUNNING.value
        case "interrupted":
            return INTERRUPTED
        case "paused":  # it waits for a firing inside it
            return NodeState.PAUSED.value
        case _:
            return NodeState.NOT_RUN.value


def stored_node(past: Past, status: str, path: str, read: Callable[[Any], Any] = str) -> StoredNode:
    """Return a firing of a run that has this status; `read` reads a reason, which may be a reference."""
    return _stored_node(past, status, path, past.paused_blocks(), read)


def _stored_node(
    past: Past, status: str, path: str, paused: Collection[str], read: Callable[[Any], Any]
) -> StoredNode:
    firing = past.firings[path]
    has_ended = firing.state is not None
    return StoredNode(
        path,
        firing.type,
        state_of(past, status, path, paused),
        firing.attempt,
        firing.started,
        firing.ended,
        (firing.ended - firing.started).total_seconds()
        if firing.started is not None and firing.ended is not None and has_ended
        else None,
        read(firing.reason) if has_ended else "",  # the reason of an earlier attempt does not apply
        items=past.maps.get(path),
        rounds=None if path in past.maps else past.rounds.get(path),
    )


def stored_nodes(past: Past, status: str, read: Callable[[Any], Any] = str) -> Iterator[StoredNode]:
    """Yield the firings of a run that has this status, in the order in which they began."""
    paused = past.paused_blocks()
    return (_stored_node(past, status, path, paused, read) for path in past.firings)


def node_tree(past: Past, status: str, read: Callable[[Any], Any] = str) -> list[NodeBranch]:
    """Return the firings of a run that has this status as a tree, each below the scope that it ran in."""
    root = NodeBranch("", "")
    known: dict[str, NodeBranch] = {"": root}
    for node in stored_nodes(past, status, read):
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
    """Return the path of the container of a path: for an item its map, for an attempt its subflow."""
    parts = _LAST.match(path)
    return parts[1] if parts is not None else ""


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run in the store, with its folded journal."""

    run: StoredRun
    past: Past
    stored: StoredValues

    @property
    def not_begun(self) -> Sequence[str]:
        """The nodes of the flow without records in the journal, except those in loops and maps."""
        try:
            shape = FlowShape.read(self.stored.readable(self.past.told.get("shape")))
        except ValueError:  # of a run that has not begun, or of another release
            return ()
        known = self.past.firings
        return [address for address in shape.entries if "/" not in address and address not in known]

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The inputs of the run, as JSON."""
        inputs: Mapping[str, Any] = self.stored.readable(dict(self.past.told.get("inputs", {})))
        return inputs

    @property
    def outputs(self) -> Mapping[str, Token]:
        """The tokens of the outputs that have settled, by name: a value, a skip or an error, as JSON."""
        reads = FlowReads.read(str(self.stored.readable(self.past.told.get("reads", ""))))
        tokens = {name: token_of(self.past, source) for name, source in reads.outputs.items()}
        return {
            name: {kind: self.stored.readable(value) for kind, value in token.items()}
            for name, token in tokens.items()
            if token is not None and token is not UNKNOWN
        }

    @property
    def forked(self) -> Mapping[str, Any] | None:
        """The run that it is a fork of and the changes, as JSON; None if it is not a fork."""
        forked: Mapping[str, Any] | None = self.stored.readable(self.past.told.get("forked"))
        return forked

    @property
    def warnings(self) -> list[str]:
        """The texts of the warnings in order."""
        return [text for *_, text in self.past.warnings]


def read_run(store: Store, run: StoredRun) -> PastRun:
    """Read the journal of a run; raises StoreError if it cannot be read."""
    return PastRun(run, fold(run.id, store.records(run.id), str(store)), StoredValues(store))


def record_object(run: StoredRun) -> dict[str, Any]:
    """Return the store's record of a run, as JSON."""
    return {
        "run": run.id,
        "flow": run.flow,
        "target": run.target,
        "status": run.status,
        "created": run.created.isoformat(),
        "updated": run.updated.isoformat(),
    }


def run_object(found: PastRun, asks: Sequence[OpenAsk]) -> dict[str, Any]:
    """Return a run with its nodes and its open asks, as JSON."""
    outputs = found.outputs
    return {
        **record_object(found.run),
        "elapsed": found.past.elapsed,
        "forked": found.forked,
        "inputs": found.inputs,
        "outputs": {name: token["value"] for name, token in outputs.items() if "value" in token},
        "skipped": {name: token["skip"] for name, token in outputs.items() if "skip" in token},
        "nodes": [
            node.as_json() for node in stored_nodes(found.past, found.run.status, found.stored.readable)
        ],
        "not_begun": list(found.not_begun),
        "asks": [{**ask.as_json(), "answered": ask.is_answered} for ask in asks],
        "warnings": found.warnings,
    }


def firing_object(found: PastRun, store: Store, path: str) -> dict[str, Any]:
    """Return one firing with everything that is stored of it, as JSON.

    Raises NameUnknown if there is none at this path, StoreError as `read_run`.
    """
    past, read = found.past, found.stored.readable
    firing = past.firings.get(path)
    if firing is None:
        raise _unknown(found, path)
    records = [record for record in store.records(found.run.id) if record.path == path]
    return {
        "run": found.run.id,
        **stored_node(past, found.run.status, path, read).as_json(),
        "inputs": _inputs(records, found.stored),
        "outputs": {
            name: {kind: read(value) for kind, value in token.items()} for name, token in firing.ports.items()
        },
        "metadata": read(firing.metadata or {}),
        "failure": read(firing.failure),
        "attempts": [
            {"attempt": data["attempt"], "error": read(data["error"])}
            for data in _data_of(records, EventKind.ATTEMPT_FAILED)
        ],
        "ask": _ask(found, path),
    }


def output_object(found: PastRun, name: str) -> dict[str, Any] | None:
    """Return one output of a run, as JSON; None if it has not settled or there is none."""
    token = found.outputs.get(name)
    return None if token is None else {"run": found.run.id, "output": name, **token}


def _unknown(found: PastRun, path: str) -> NameUnknown:
    place, not_begun = f"run {found.run.id}", found.not_begun
    if path in not_begun:
        return NameUnknown(NODE_NOT_BEGUN(place, name=path))
    known = [*found.past.firings, *not_begun, *found.outputs]
    return NameUnknown(NODE_NOT_IN_RUN(place, name=path, available=known, near=path))


def _data_of(records: Sequence[Record], kind: EventKind) -> Iterator[dict[str, Any]]:
    return (json.loads(record.data) for record in records if record.kind == kind)


def _inputs(records: Sequence[Record], stored: StoredValues) -> Any:
    """Return the inputs of the newest attempt, or None if they were not recorded."""
    inputs = None
    for data in _data_of(records, EventKind.NODE_STARTED):
        inputs = data.get("inputs")
    return None if inputs is None else stored.readable(inputs)


def _ask(found: PastRun, path: str) -> dict[str, Any] | None:
    ask, read = found.past.firings[path].ask, found.stored.readable
    if ask is None:
        return None
    return {
        **{name: read(ask.told[name]) for name in ("prompt", "schema", "show", "expires")},
        "answer": None if ask.values is None else read(ask.values),
        "by": ask.by,
        "closed": ask.closed,
    }
