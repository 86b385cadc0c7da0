"""Compare two runs and list their differences, the first cause first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.logs import masked_logger
from dataflow.base.wording import counted, visible
from dataflow.compiler.addresses import address_of
from dataflow.core.events import EventKind
from dataflow.core.former_names import former_names
from dataflow.core.states import RunStatus
from dataflow.core.threads import call_in_thread
from dataflow.core.wiring import INPUT
from dataflow.durable.edits import CODE, compare, current_types, in_names_of
from dataflow.durable.graph_signature import FlowShape, in_present_names
from dataflow.durable.journal_view import began, fold
from dataflow.durable.ownership import plan_of_run, store_errors
from dataflow.durable.storable import CONSTANT, FlowReads, ports_in
from dataflow.errors import DataflowError
from dataflow.inspection.stored_outputs import UNKNOWN, token_of
from dataflow.inspection.value_diff import are_alike, expanded, first_difference, first_message, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from dataflow.compiler.definition import Definition
    from dataflow.durable.journal_view import Past
    from dataflow.stores import Record, Store


__all__ = ["Difference", "DifferenceKind", "Differences", "compare_runs", "diff", "needs_flow"]

LOG: Final = masked_logger("dataflow.diff")
_KEYS: Final = re.compile(r"\[([^\]]*)\]")  # of items and iterations
ENDS: Final = frozenset({EventKind.NODE_FINISHED, EventKind.ASK_ANSWERED})


class DifferenceKind(StrEnum):
    """The kind of a difference."""

    INPUT = "input"
    NODE = "node"  # its declaration in the flow
    ANSWER = "answer"
    STATE = "state"
    FAILURE = "failure"
    VALUE = "value"
    MESSAGE = "message"
    OUTPUT = "output"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference. It is a cause if nothing that it depends on differs.

    `path` is that of the firing, `port` the name of a port, input or output. `where` is the path inside the
    value to the first difference; `first` and `second` are the values there as JSON, None if there is none.
    """

    kind: DifferenceKind
    path: str
    port: str
    is_cause: bool
    text: str
    where: str = ""
    first: Any = None
    second: Any = None

    def __str__(self) -> str:
        return f"{'cause  ' if self.is_cause else 'follows'}  {self.text}"


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences of two runs, causes before their consequences; empty if there are none."""

    first: str
    second: str
    all: tuple[Difference, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.all)

    @property
    def causes(self) -> tuple[Difference, ...]:
        """The differences that do not follow from others."""
        return tuple(one for one in self.all if one.is_cause)

    def __str__(self) -> str:
        if not self.all:
            return f"{self.first} and {self.second} do not differ"
        head = f"{self.first} -> {self.second}: {counted(len(self.all), 'difference')}"
        return visible("\n".join([head, *map(str, self.all)]))


async def diff(store: Store, first: str, second: str, flow: Definition | None = None) -> Differences:
    """Compare two runs of a store by their journals and list the differences, the first cause first.

    Compares inputs, nodes, answers, states, values and messages. It needs no flow, and each run may be in
    any state. Values are compared as they are stored, so types count. Raises StoreError.

    `flow` tells edits of nodes from former names of classes and functions, if an earlier version of a pack
    or of the engine has stored a run.
    """
    found: Differences = await call_in_thread(compare_runs, (store, first, second, flow))
    return found


def compare_runs(store: Store, first: str, second: str, flow: Definition | None = None) -> Differences:
    """Compare two runs like `diff`, in the thread of the caller.

    If a run was stored under former names of classes and functions, only their flow tells which differences
    of nodes are edits.
    """
    sides = _side_of(store, first), _side_of(store, second)
    if not compare(sides[0].shape, sides[1].shape).is_none:
        for side in sides:
            side.shape = _renamed(side, store, flow)
        sides[0].shape = in_present_names(sides[0].shape, sides[1].shape, (), current_types())
    comparing = _Comparing(_TwoRuns(*sides), store)
    return Differences(first, second, tuple(comparing.all()))


def needs_flow(store: Store, first: str, second: str) -> bool:
    """Return whether only the flow of two runs tells edits of nodes from former names; raises StoreError."""
    shapes = [_side_of(store, run).shape for run in (first, second)]
    if compare(*shapes).is_none:
        return False
    names = former_names()
    types = (entry.type for shape in shapes for entry in shape.entries.values())
    return any(part in names for one in types for part in one.split(" "))


def _renamed(side: _Side, store: Store, flow: Definition | None) -> FlowShape:
    """Return the signature of a run in the names that its flow has now."""
    if flow is None:
        return side.shape
    try:
        return in_names_of(plan_of_run(flow, side.past, store), side.shape)
    except DataflowError as error:  # the flow is invalid, or another one; the journals are compared
        LOG.debug("run %s is compared without its flow: %s", side.past.run, error)
        return side.shape


class _Comparing:
    """Lists the differences of two runs."""

    def __init__(self, runs: _TwoRuns, store: Store) -> None:
        self._runs = runs
        self._expanded = partial(expanded, blob=store.blob)

    def all(self) -> Iterator[Difference]:
        runs = self._runs
        for name in runs.inputs:
            yield self._value(DifferenceKind.INPUT, "", name, runs.inputs[name], f"$in.{name}", is_cause=True)
        reported: set[str] = set()
        for path in runs.paths:
            for address, text in runs.edits_at(path, reported):
                yield Difference(DifferenceKind.NODE, address, "", is_cause=True, text=f"{address}: {text}")
            yield from self._of_firing(path, is_cause=not (runs.follows(path) or runs.is_edited(path)))
        for name, pair in runs.outputs():
            is_cause = not runs.comes_from_others(name)
            yield self._value(DifferenceKind.OUTPUT, "", name, pair, f"output {name!r}", is_cause=is_cause)
        statuses = [side.past.status.value for side in runs.sides]
        if statuses[0] != statuses[1]:
            text = f"the run: {statuses[0]} -> {statuses[1]}"
            is_cause = not runs.paths and not runs.inputs
            yield Difference(DifferenceKind.RUN, "", "", is_cause, text, "", *statuses)

    def _of_firing(self, path: str, *, is_cause: bool) -> Iterator[Difference]:
        """Yield the first differences of a firing: of its answer, its state, its failure or its values."""
        runs = self._runs
        states = [side.state_of(path) for side in runs.sides]
        answers = [side.answer_of(path) for side in runs.sides]
        if answers[0] != answers[1] and None not in states:
            first, second = (None if answer is None else {"value": answer} for answer in answers)
            name = f"answer to {path}"
            yield self._value(DifferenceKind.ANSWER, path, "", (first, second), name, is_cause=is_cause)
        elif None in states:
            there = runs.sides[states[0] is None]
            text = f"{path}: only in {there.past.run} ({there.state_of(path)})"
            yield Difference(DifferenceKind.STATE, path, "", is_cause, text, "", *states)
        elif states[0] != states[1]:
            text = f"{path}: {_state(runs.sides[0], path)} -> {_state(runs.sides[1], path)}"
            yield Difference(DifferenceKind.STATE, path, "", is_cause, text, "", *states)
        elif (failures := [side.failure_of(path) for side in runs.sides])[0] != failures[1]:
            text = f"{path} failed otherwise: {failures[0]} -> {failures[1]}"
            yield Difference(DifferenceKind.FAILURE, path, "", is_cause, text, "", *failures)
        else:
            for port, pair in runs.ports(path):
                yield self._value(DifferenceKind.VALUE, path, port, pair, f"{path}.{port}", is_cause=is_cause)

    def _value(
        self, kind: DifferenceKind, path: str, port: str, pair: tuple[Any, Any], name: str, *, is_cause: bool
    ) -> Difference:
        """Describe how two tokens differ: the first difference in their values, or the first message."""
        values = [self._expanded(one["value"]) if one and "value" in one else None for one in pair]
        if not all(one and "value" in one for one in pair):
            texts = [_token(one, value) for one, value in zip(pair, values, strict=True)]
            return Difference(kind, path, port, is_cause, f"{name}: {texts[0]} -> {texts[1]}", "", *values)
        message = first_message(*values)
        if message is not None:
            return self._message(path, port, message.number, (message.first, message.second), name, is_cause)
        place = first_difference(*values)
        left, right = shown(place.first, place.second)
        text = f"{name}{place.where}: {left} -> {right}"
        return Difference(kind, path, port, is_cause, text, place.where, place.first, place.second)

    def _message(
        self, path: str, port: str, number: int, pair: tuple[Any, Any], name: str, is_cause: bool
    ) -> Difference:
        roles = dict.fromkeys(one["role"] for one in pair if one is not None)
        contents = [None if one is None else one["content"] for one in pair]
        left, right = shown(*contents)
        texts = [text if one is not None else "none" for one, text in zip(pair, (left, right), strict=True)]
        text = f"{name}, message {number} ({' -> '.join(roles)}): {texts[0]} -> {texts[1]}"
        return Difference(DifferenceKind.MESSAGE, path, port, is_cause, text, f"[{number}]", *contents)


def _state(side: _Side, path: str) -> str:
    """Write the state of a firing with its reason."""
    state, why = side.state_of(path), side.failure_of(path) or side.reason_of(path)
    return f"{state} ({why})" if why else f"{state}"


def _token(token: Mapping[str, Any] | None, value: Any) -> str:
    """Write the token of a port, where at least one of the two is not a value."""
    if token is None:
        return "nothing yet"
    if "value" in token:
        return shown(value, None)[0]
    return f"no value ({token['skip']})" if "skip" in token else "no value (an error)"


@dataclass(slots=True, eq=False)
class _Side:
    """One of two runs: its journal, and when each firing has begun and ended, by sequence number."""

    past: Past
    shape: FlowShape
    reads: FlowReads
    begun: dict[str, int]
    ended: dict[str, int]
    blob: Callable[[str], bytes]
    paused: Collection[str]  # the loops, maps and subflows that have paused

    def state_of(self, path: str) -> str | None:
        """Return the state of a firing; None if it does not exist."""
        firing = self.past.firings.get(path)
        if firing is None:
            return None
        if firing.state is not None:
            return firing.state.value
        is_paused = self.past.status is RunStatus.PAUSED or firing.is_asking or path in self.paused
        return "paused" if is_paused else "running"

    def reason_of(self, path: str) -> str:
        reason: Any = self.past.firings[path].reason
        return reason if isinstance(reason, str) else self.blob(reason["v"]).decode()  # a long one

    def failure_of(self, path: str) -> str:
        """Write the failure of a firing, if it has failed."""
        failure = self.past.firings[path].failure
        return "" if failure is None else f"{failure['v']['type']}: {failure['v']['message']}"

    def answer_of(self, path: str) -> Any:
        """Return the answer to an ask: a value for its only port, or an object by port."""
        firing = self.past.firings.get(path)
        if firing is None or firing.ask is None or firing.ask.values is None:
            return None
        values = firing.ask.answer
        return next(iter(values.values())) if len(values) == 1 else values

    def token(self, path: str, port: str) -> Mapping[str, Any] | None:
        firing = self.past.firings.get(path)
        escaped = f"${port}" if port.startswith("$") else port
        return None if firing is None else firing.ports.get(escaped)


def _side_of(store: Store, run: str) -> _Side:
    """Read a run; raises StoreError."""
    with store_errors(store):
        records = list(store.records(run))
        past = began(fold(run, records, str(store)))
        text = expanded(past.told.get("reads", ""), store.blob)
        return _Side(
            past,
            _shape(past, store),
            FlowReads.read(text),
            *_times(records),
            store.blob,
            past.paused_blocks(),
        )


def _shape(past: Past, store: Store) -> FlowShape:
    try:
        return FlowShape.read(expanded(past.told["shape"], store.blob))
    except ValueError:  # of another release: its nodes are not compared
        return FlowShape({})


def _times(records: Iterable[Record]) -> tuple[dict[str, int], dict[str, int]]:
    begun: dict[str, int] = {}
    ended: dict[str, int] = {}
    for record in records:
        if record.kind == EventKind.NODE_STARTED:
            begun[record.path] = record.seq
        elif record.kind in ENDS:
            ended[record.path] = record.seq
    return begun, ended


class _TwoRuns:
    """The differences between two runs, and their dependencies."""

    def __init__(self, first: _Side, second: _Side) -> None:
        self.sides = first, second
        self._blob = first.blob
        self._edits = compare(first.shape, second.shape)
        self._loops = {*first.past.rounds, *second.past.rounds}
        self.inputs = dict(self._inputs())
        self._differing: dict[str, list[str]] = {}  # paths by the port that differs, as nodes read it
        found = [path for path in _merged(first.ended, second.ended) if self._differs(path)]
        rest = {*first.past.firings, *second.past.firings} - {*first.ended, *second.ended}
        self.paths = [*found, *(path for path in sorted(rest) if self._differs(path))]

    def _inputs(self) -> Iterator[tuple[str, tuple[Any, Any]]]:
        given = [side.past.told.get("inputs", {}) for side in self.sides]
        for name in dict.fromkeys([*given[0], *given[1]]):
            first, second = ({"value": one[name]} if name in one else None for one in given)
            if not self._are_alike(first, second):
                yield name, (first, second)

    def _differs(self, path: str) -> bool:
        """Return whether a firing differs, and record its ports that do."""
        ports = [port for port, _ in self.ports(path)]
        for port in ports:
            self._differing.setdefault(f"{address_of(path)}.{port}", []).append(path)
        states = [side.state_of(path) for side in self.sides]
        answers = [side.answer_of(path) for side in self.sides]
        if states[0] != states[1] or answers[0] != answers[1] or self.is_edited(path):
            return True
        failures = [side.failure_of(path) for side in self.sides if side.state_of(path) is not None]
        return len({*failures}) > 1 or any(port[:1] != "$" for port in ports)

    def ports(self, path: str) -> Iterator[tuple[str, tuple[Any, Any]]]:
        """Yield the ports of a firing that differ, with the token of each side."""
        names: dict[str, None] = {}
        for side in self.sides:
            if path in side.past.firings:
                names |= dict.fromkeys(side.past.firings[path].ports)
        for escaped in names:
            port = escaped[1:] if escaped.startswith("$$") else escaped
            first, second = (side.token(path, port) for side in self.sides)
            if not self._are_alike(first, second):
                yield port, (first, second)

    def _are_alike(self, first: Mapping[str, Any] | None, second: Mapping[str, Any] | None) -> bool:
        """Return whether two tokens are equal; the reason of a missing value does not count."""
        if first is None or second is None or "value" not in first or "value" not in second:
            return (first and next(iter(first))) == (second and next(iter(second)))
        left, right = first["value"], second["value"]
        return are_alike(left, right) or are_alike(*(expanded(one, self._blob) for one in (left, right)))

    def is_edited(self, path: str) -> bool:
        """Return whether the node differs between the flows."""
        return address_of(path) in self._edits.changed

    def edits_at(self, path: str, reported: set[str]) -> Iterator[tuple[str, str]]:
        """Yield the differences of a node between the flows, unless they are reported already."""
        address = address_of(path)
        if address not in self._edits.changed or address in reported:
            return
        reported.add(address)
        parts = self._edits.changed[address]
        if "config" in parts:  # fields that have their default count as code
            parts = tuple(part for part in parts if part != CODE)
        fields = self._fields_at(address)
        yield address, f"another {', '.join(parts)}{f' ({fields})' if fields else ''}"

    def _fields_at(self, address: str) -> str:
        """Describe the fields of a config that forks have changed differently."""
        first, second = (
            expanded(side.past.told.get("configs", {}), side.blob).get(address, {}) for side in self.sides
        )
        names = [name for name in {**first, **second} if first.get(name) != second.get(name)]
        return ", ".join(f"{name} {_field(first, name)} -> {_field(second, name)}" for name in names)

    def follows(self, path: str) -> bool:
        """Return whether something that a firing reads, or that is inside it, differs."""
        read = {port for side in self.sides for port in side.reads.nodes.get(address_of(path), ())}
        return any(self._leads_to(port, path) for port in read)

    def _leads_to(self, port: str, path: str) -> bool:
        name = port.removeprefix(f"{INPUT}.")
        if name != port:
            return name in self.inputs
        return any(
            other != path and not self._are_apart(other, path) and self._precedes(other, path)
            for other in self._differing.get(port, ())
        )

    def _precedes(self, other: str, path: str) -> bool:
        """Return whether a firing ended, in one of the runs, before another began or around it."""
        for side in self.sides:
            known = side.past.firings.get(path)
            since = side.begun.get(path) if known is not None and not known.is_opener else None
            since = side.ended.get(path) if since is None else since
            if other in side.ended and (since is None or side.ended[other] < since):
                return True
        return False

    def _are_apart(self, other: str, path: str) -> bool:
        """Return whether one firing is in another item than the other, or in a later iteration."""
        keys = {path[: key.start()]: key[1] for key in _KEYS.finditer(path)}
        for key in _KEYS.finditer(other):
            own = keys.get(other[: key.start()])
            if own is None or own == key[1]:
                continue
            if other[: key.start()] not in self._loops or int(key[1]) > int(own):
                return True
        return False

    def outputs(self) -> Iterator[tuple[str, tuple[Any, Any]]]:
        """Yield the outputs that differ, as far as the journals record them."""
        first_outputs, second_outputs = (side.reads.outputs for side in self.sides)
        for name in dict.fromkeys([*first_outputs, *second_outputs]):
            first, second = (
                token_of(side.past, side.reads.outputs[name]) if name in side.reads.outputs else None
                for side in self.sides
            )
            if UNKNOWN not in (first, second) and not self._are_alike(first, second):
                yield name, (first, second)

    def comes_from_others(self, output: str) -> bool:
        """Return whether a port that an output depends on differs."""
        ports = {port for side in self.sides for port in ports_in(side.reads.outputs.get(output, [CONSTANT]))}
        return any(port in self._differing or port.removeprefix(f"{INPUT}.") in self.inputs for port in ports)


def _field(config: Mapping[str, Any], name: str) -> str:
    return shown(config[name], None)[0] if name in config else "as in the flow"


def _merged(first: Mapping[str, int], second: Mapping[str, int]) -> list[str]:
    """Merge the orders in which firings of two runs have ended; those of both keep the first order."""
    left, right = (sorted(some, key=some.__getitem__) for some in (first, second))
    merged: dict[str, None] = {}
    waiting = iter(right)
    for path in left:
        if path in second and path not in merged:
            for other in waiting:
                if other == path:
                    break
                if other not in first:
                    merged[other] = None
        merged[path] = None
    return [*merged, *(other for other in right if other not in merged)]
