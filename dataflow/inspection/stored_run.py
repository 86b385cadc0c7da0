"""A stored run, read from its journal as plain data: its record, its nodes, and single firings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dataflow.core.events import EventKind
from dataflow.durable.graph_signature import FlowShape
from dataflow.durable.journal_view import fold
from dataflow.inspection.json_values import StoredValues
from dataflow.inspection.stored_nodes import stored_node, stored_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dataflow.durable.journal_view import Past
    from dataflow.inspection.open_asks import OpenAsk
    from dataflow.stores import Record, Store, StoredRun

__all__ = [
    "FiringNotBegun",
    "NameUnknown",
    "PastRun",
    "firing_object",
    "read_run",
    "record_object",
    "run_object",
]


class NameUnknown(LookupError):
    """Raised for a name that a stored run does not have; `choices` are the names of that kind that it has."""

    def __init__(self, run: str, kind: str, name: str, choices: Sequence[str]) -> None:
        super().__init__(f"run {run} has no {kind} {name!r}")
        self.name = name
        self.choices = choices


class FiringNotBegun(LookupError):
    """Raised for a node of a stored run of which nothing is stored yet."""

    def __init__(self, run: str, path: str) -> None:
        super().__init__(f"node {path!r} of run {run} has not begun")
        self.path = path


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run in the store with the past that its journal reports."""

    run: StoredRun
    past: Past
    stored: StoredValues

    @property
    def not_begun(self) -> Sequence[str]:
        """The nodes of the flow that the journal does not know, except those in loops and maps."""
        try:
            shape = FlowShape.read(self.stored.readable(self.past.told.get("shape")))
        except ValueError:  # of a run that was not begun, or by another release
            return ()
        known = self.past.firings
        return [address for address in shape.entries if "/" not in address and address not in known]

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The inputs of the run, as JSON."""
        inputs: Mapping[str, Any] = self.stored.readable(dict(self.past.told.get("inputs", {})))
        return inputs

    @property
    def forked(self) -> Mapping[str, Any] | None:
        """The run that it is a fork of and the changes, as JSON; None if it is no fork."""
        forked: Mapping[str, Any] | None = self.stored.readable(self.past.told.get("forked"))
        return forked

    @property
    def warnings(self) -> list[str]:
        """The texts of the warnings, in their order."""
        return [text for *_, text in self.past.warnings]


def read_run(store: Store, run: StoredRun) -> PastRun:
    """Read the journal of a run; raises StoreError if it cannot be read."""
    return PastRun(run, fold(run.id, store.records(run.id), str(store)), StoredValues(store))


def record_object(run: StoredRun) -> dict[str, Any]:
    """Return the record that the store has of a run, as JSON."""
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
    return {
        **record_object(found.run),
        "elapsed": found.past.elapsed,
        "forked": found.forked,
        "inputs": found.inputs,
        "nodes": [node.as_json() for node in stored_nodes(found.past, found.run.status)],
        "not_begun": list(found.not_begun),
        "asks": [{**ask.as_json(), "answered": ask.is_answered} for ask in asks],
        "warnings": found.warnings,
    }


def firing_object(found: PastRun, store: Store, path: str) -> dict[str, Any]:
    """Return one firing with all that is stored of it, as JSON.

    Raises FiringNotBegun or NameUnknown if there is none at this path, StoreError as `read_run`.
    """
    past, read = found.past, found.stored.readable
    firing = past.firings.get(path)
    if firing is None:
        raise _unknown(found, path)
    records = [record for record in store.records(found.run.id) if record.path == path]
    return {
        "run": found.run.id,
        **stored_node(past, found.run.status, path).as_json(),
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


def _unknown(found: PastRun, path: str) -> LookupError:
    not_begun = found.not_begun
    if path in not_begun:
        return FiringNotBegun(found.run.id, path)
    return NameUnknown(found.run.id, "node", path, [*found.past.firings, *not_begun])


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
