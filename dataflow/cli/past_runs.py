"""What is told of a run in the store: its record, the tree of its nodes, one firing with all that it held."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dataflow.cli.ask_texts import ask_lines, ask_object
from dataflow.cli.carrying import shown
from dataflow.cli.exits import ExitCode, Problem, Refused
from dataflow.cli.past_tree import node_objects, state_of, tree_lines
from dataflow.cli.report import output_text
from dataflow.cli.storage import refusing_runs
from dataflow.cli.stored import Stored
from dataflow.cli.texts import duration, moment
from dataflow.events import EventKind
from dataflow.past import fold
from dataflow.shape import FlowShape
from dataflow.states import ENDED
from dataflow.wording import choices, nearest, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dataflow.cli.ask_texts import ToldAsk
    from dataflow.past import Past
    from dataflow.stores import Record, Store, StoredRun

__all__ = ["PastRun", "firing_object", "firing_text", "read_run", "run_object", "run_text"]


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run in the store with what its journal tells."""

    run: StoredRun
    past: Past
    stored: Stored

    @property
    def not_begun(self) -> Sequence[str]:
        """The nodes of the flow that the journal does not know, but for those in loops and maps."""
        try:
            shape = FlowShape.read(self.stored.readable(self.past.told.get("shape")))
        except ValueError:  # of a run that was not begun, or by another release
            return ()
        known = self.past.firings
        return [address for address in shape.entries if "/" not in address and address not in known]


def read_run(store: Store, run: StoredRun) -> PastRun:
    """Read the journal of a run."""
    with refusing_runs():
        return PastRun(run, fold(run.id, store.records(run.id), str(store)), Stored(store))


def run_text(found: PastRun, asks: Sequence[ToldAsk]) -> str:
    """Write a run for people."""
    run, past = found.run, found.past
    where = f"  ({run.target})" if run.target else ""
    lines = [
        f"run     {run.id}",
        f"flow    {run.flow}{where}",
        f"status  {run.status}",
        f"began   {moment(run.created)}, last written {moment(run.updated)}",
        f"ran     {duration(past.elapsed)}",
        *_forked_lines(found),
    ]
    inputs = found.stored.readable(dict(past.told.get("inputs", {})))
    if inputs:
        lines += ["inputs", *_indented(_values_text(inputs))]
    lines += ["nodes", *(f"  {line}" for line in tree_lines(past, run.status))]
    state = "not_run" if run.status in ENDED else "waiting"
    lines += [f"  {name.ljust(24)}  {state}" for name in found.not_begun]
    if asks:
        lines += ["asks", *(f"  {line}" for ask in asks for line in ask_lines(ask).split("\n"))]
    if past.warnings:
        lines += ["warnings", *(f"  {text}" for *_, text in past.warnings)]
    return visible("\n".join(lines))


def _forked_lines(found: PastRun) -> Iterator[str]:
    forked = found.stored.readable(found.past.told.get("forked"))
    if forked is not None:
        yield f"forked  from {forked['run']}"
        yield from (f"  {key} = {shown(value)}" for key, value in forked["changes"].items())


def _values_text(values: Mapping[str, Any]) -> str:
    return "\n".join(output_text(name, value, shorten=False) for name, value in values.items())


def _indented(text: str) -> Iterator[str]:
    return (f"  {line}" for line in text.split("\n"))


def run_object(found: PastRun, asks: Sequence[ToldAsk]) -> dict[str, Any]:
    """Describe a run for programs."""
    run, past = found.run, found.past
    return {
        **record_object(run),
        "elapsed": past.elapsed,
        "forked": found.stored.readable(past.told.get("forked")),
        "inputs": found.stored.readable(dict(past.told.get("inputs", {}))),
        "nodes": node_objects(past, run.status),
        "not_begun": list(found.not_begun),
        "asks": [{**ask_object(ask), "answered": ask.is_answered} for ask in asks],
        "warnings": [text for *_, text in past.warnings],
    }


def record_object(run: StoredRun) -> dict[str, Any]:
    """Describe what the store tells of a run."""
    return {
        "run": run.id,
        "flow": run.flow,
        "target": run.target,
        "status": run.status,
        "created": run.created.isoformat(),
        "updated": run.updated.isoformat(),
    }


def firing_object(found: PastRun, store: Store, path: str) -> dict[str, Any]:
    """Describe one firing with all that is stored of it; raises Refused if there is none at this path."""
    past, read = found.past, found.stored.readable
    firing = past.firings.get(path)
    if firing is None:
        raise Refused([Problem(_unknown(found, path))], ExitCode.USAGE)
    records = [record for record in store.records(found.run.id) if record.path == path]
    return {
        "run": found.run.id,
        **next(one for one in node_objects(past, found.run.status) if one["path"] == path),
        "inputs": _inputs(records, found.stored),
        "outputs": {name: _token(found.stored, told) for name, told in firing.ports.items()},
        "metadata": read(firing.metadata or {}),
        "failure": read(firing.failure),
        "attempts": [
            {"attempt": data["attempt"], "error": read(data["error"])}
            for data in _data_of(records, EventKind.ATTEMPT_FAILED)
        ],
        "ask": _ask(found, path),
    }


def _unknown(found: PastRun, path: str) -> str:
    if path in found.not_begun:
        return f"node {path!r} of run {found.run.id} has not begun"
    known = [*found.past.firings, *found.not_begun]
    return f"run {found.run.id} has no node {path!r}; {choices(nearest(known, path))}"


def _data_of(records: Sequence[Record], kind: EventKind) -> Iterator[dict[str, Any]]:
    return (json.loads(record.data) for record in records if record.kind == kind)


def _inputs(records: Sequence[Record], stored: Stored) -> Any:
    """Return what the newest attempt was given, or None if nobody asked for that when it ran."""
    given = None
    for data in _data_of(records, EventKind.NODE_STARTED):
        given = data.get("inputs")
    return None if given is None else stored.readable(given)


def _token(stored: Stored, told: Mapping[str, Any]) -> dict[str, Any]:
    return {kind: stored.readable(value) for kind, value in told.items()}


def _ask(found: PastRun, path: str) -> dict[str, Any] | None:
    ask, read = found.past.firings[path].ask, found.stored.readable
    if ask is None:
        return None
    told = {name: read(ask.told[name]) for name in ("prompt", "schema", "show", "expires")}
    return {
        **told,
        "answer": None if ask.values is None else read(ask.values),
        "by": ask.by,
        "closed": ask.closed,
    }


def firing_text(found: PastRun, described: Mapping[str, Any]) -> str:
    """Write one firing for people."""
    firing = found.past.firings[described["path"]]
    lines = [
        f"node    {described['path']}",
        f"type    {described['type']}",
        f"state   {state_of(found.past, found.run.status, described['path'])}"
        + (f" ({described['reason']})" if described["reason"] else ""),
    ]
    if firing.started is not None:
        took = f", {duration((firing.ended - firing.started).total_seconds())}" if firing.ended else ""
        lines.append(f"began   {moment(firing.started)}{took}, attempt {firing.attempt}")
    if described["inputs"] is not None:
        lines += ["inputs", *_indented(_values_text(described["inputs"]))]
    if described["outputs"]:
        lines += [
            "outputs",
            *_indented("\n".join(_port_text(*port) for port in described["outputs"].items())),
        ]
    if described["metadata"]:
        lines += ["metadata", *_indented(_values_text(described["metadata"]))]
    if described["ask"] is not None:
        known = {name: value for name, value in described["ask"].items() if value not in (None, "")}
        lines += ["ask", *_indented(_values_text(known))]
    for earlier in described["attempts"]:
        lines += [f"attempt {earlier['attempt']} failed", *_indented(_failure_text(earlier["error"]))]
    if described["failure"] is not None:
        lines += ["failure", *_indented(_failure_text(described["failure"]))]
    return visible("\n".join(lines))


def _port_text(name: str, told: Mapping[str, Any]) -> str:
    if "value" in told:
        return output_text(name, told["value"], shorten=False)
    if "skip" in told:
        return f"{name}: skipped: {told['skip']}"
    return f"{name}: failed: {_failure_text(told['error']).splitlines()[0]}"


def _failure_text(failure: Any) -> str:
    if not isinstance(failure, dict) or "message" not in failure:
        return str(failure)
    return f"{failure['type']}: {failure['message']}\n{failure['traceback']}".rstrip()
