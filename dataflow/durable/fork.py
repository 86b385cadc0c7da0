"""Fork a run: copy the part of its journal that a set of changes leaves valid."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import PydanticSerializationError

from dataflow.compiler.addresses import address_of, scopes_of
from dataflow.compiler.plan import Call
from dataflow.core.events import EventKind
from dataflow.core.inputs import read_answer, read_inputs
from dataflow.core.states import LoopEnd, NodeState, RunStatus
from dataflow.core.threads import call_in_thread
from dataflow.diagnostics.changes import ANSWER_ASKED_AGAIN, CHANGE_NOT_JSON
from dataflow.durable.changes import CONFIG, FORK, Changeable, changed_configs, rewired
from dataflow.durable.dependents import reach_of
from dataflow.durable.edits import invalidated_by
from dataflow.durable.journal_view import began, fold, unhandled_in
from dataflow.durable.ownership import (
    Taken,
    acquire,
    begin,
    configs_told,
    discard,
    flow_of_run,
    go_on,
    inputs_of,
    plan_of,
    store_errors,
)
from dataflow.durable.storable import make_known, storable_of
from dataflow.errors import AnswerRefused, FlowInvalid, ValueRefused
from dataflow.runtime.run import new_run_id
from dataflow.stores import Batch, StoredRun
from dataflow.stores.store import Record
from dataflow.values.reader import Reader
from dataflow.values.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from dataflow.compiler.definition import Definition
    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.config import Config
    from dataflow.core.policy import Edited
    from dataflow.durable.changes import Changes
    from dataflow.durable.dependents import ForkCone
    from dataflow.durable.journal_view import Past, PastFiring
    from dataflow.durable.storable import Storable
    from dataflow.runtime.run import PreparedRun
    from dataflow.stores import Store

__all__ = ["FORK", "blobs_in", "changeable_of", "prepare_forked", "write_fork"]

#: Events about the run as a whole, which a fork records itself.
OF_RUN: Final = frozenset(
    {EventKind.RUN_STARTED, EventKind.RUN_PAUSED, EventKind.RUN_RESUMED, EventKind.RUN_FINISHED}
)
#: Warnings that belong to one execution session.
OF_SESSION: Final = frozenset({"torn_record", "answer_refused"})
#: Events that count the attempts at a subflow, which name its scope instances.
ATTEMPTS: Final = frozenset({EventKind.NODE_STARTED, EventKind.ATTEMPT_FAILED})
#: Events that a fork keeps of an ask that it answers differently.
ASKED: Final = frozenset({EventKind.NODE_STARTED, EventKind.ATTEMPT_FAILED, EventKind.ASK_OPENED})
#: Final states after which a firing runs again.
AGAIN: Final = frozenset({None, NodeState.CANCELLED})
#: Final states that another one follows when the firing runs again.
UNSETTLED: Final = frozenset({NodeState.FAILED, NodeState.TIMED_OUT, NodeState.CANCELLED, NodeState.NOT_RUN})
#: The kinds of stored values that name a blob.
WITH_BLOBS: Final = ("text", "blob", "history")


@dataclass(frozen=True, slots=True)
class _Fork:
    """A fork to be written: its plan, and its journal with the blobs that it needs."""

    plan: FlowPlan
    records: Sequence[Record]
    blobs: Mapping[str, bytes]


async def prepare_forked(
    flow: Definition, run: str, changes: Mapping[str, object], edited: Edited
) -> PreparedRun:
    """Prepare a fork of a run; the run itself remains unchanged, and an error leaves no fork.

    Raises StoreError, FlowInvalid for impossible changes, AnswerRefused, ValueRefused, FlowEdited.
    """
    store = flow.settings.store
    assert store is not None, "the flow has a store"
    past, records = await call_in_thread(_read, (store, run))
    fork = _Forking(flow, store, past, records).fork(changes, edited)

    def give_up(taken: Taken) -> None:
        discard(store, taken.past.run, taken.hold)

    taken = await acquire(partial(_write, store, flow.target, past, fork), give_up)
    return await go_on(lambda _: fork.plan, flow.settings, taken, {})


def write_fork(flow: Definition, run: str, changes: Mapping[str, object], edited: Edited) -> str:
    """Write a fork of a run, to be resumed later, and return its id; blocks.

    Raises the errors of `prepare_forked`.
    """
    store = flow.settings.store
    assert store is not None, "the flow has a store"
    past, records = _read(store, run)
    taken = _write(store, flow.target, past, _Forking(flow, store, past, records).fork(changes, edited))
    taken.hold.release()
    return taken.past.run


def changeable_of(flow: Definition, past: Past, store: Store) -> Changeable:
    """Return the keys that a fork of a run can change."""
    changed = flow_of_run(flow, past, store)
    return Changeable(changed, plan_of(flow, changed, past), past)


def _read(store: Store, run: str) -> tuple[Past, list[Record]]:
    with store_errors(store):
        records = list(store.records(run))
        past = began(fold(run, records, str(store)))
        # failures of a paused run remain valid until it ends; a fork runs them again
        if past.status is RunStatus.PAUSED:
            paused = [record for record in records if record.kind == "run_paused"]
            past.failures = frozenset(json.loads(paused[-1].data).get("failures", ()))
        return past, records


class _Forking:
    """Decides which changes apply to a fork of one run, and builds its journal."""

    def __init__(self, flow: Definition, store: Store, past: Past, records: Sequence[Record]) -> None:
        self._flow = flow
        self._store = store
        self._past = past
        self._records = records
        self._base = flow_of_run(flow, past, store)
        self._blobs: dict[str, bytes] = {}
        self._time = datetime.now(UTC).isoformat()

    def fork(self, changes: Mapping[str, object], edited: Edited) -> _Fork:
        past = self._past
        plan = plan_of(self._flow, self._base, past)
        before = storable_of(plan)
        stored = self._reader(before).read(past.told["shape"], f"the flow of run {past.run}")
        past.failures = unhandled_in(plan, past)
        forgotten, changed_code = invalidated_by(plan, before.shape, past, stored, edited)
        changeable = Changeable(self._base, plan, past)
        wanted = changeable.parted(changes)
        configs = changed_configs(plan.name, changeable.configs, wanted.configs)
        if configs:
            plan = plan_of(self._flow, rewired(self._base, configs), past)
        storable = storable_of(plan)
        writer = Writer(storable.classes, self._blobs.__setitem__)
        inputs = self._inputs(plan, storable, wanted.inputs)
        answers = self._answers(changeable, writer, wanted.answers)
        recorded = _configs_as_json(wanted, changeable, configs)
        as_json = {f"{address}{CONFIG}{name}": value for (address, name), value in recorded.items()}
        started = self._started(
            plan, writer, inputs, {key: as_json.get(key, changes[key]) for key in changes}
        )
        if earlier := self._configs(recorded):
            started["configs"] = writer.write(earlier, "the configs")
        reach = reach_of(
            plan,
            past,
            inputs=[name for name in inputs if not _same(started["inputs"], past.told["inputs"], name)],
            nodes=wanted.configs.keys(),
            answers=answers.keys(),
        )
        self._refuse_reached(plan.name, reach, forgotten, answers)
        copying = _JournalCopy(
            past, reach, self._time, forgotten, past.failures, answers, changed_code, _cut_off(plan, past)
        )
        records = list(copying.copied(self._records, started))
        started["decided"] = _decided_otherwise(past, records)
        records[0] = _record(1, EventKind.RUN_STARTED.value, "", started)
        blobs = {**blobs_in(records[1:], self._store.blob), **blobs_in(records[:1], self._blob)}
        return _Fork(plan, records, {**blobs, **self._blobs})

    def _configs(self, recorded: Mapping[tuple[str, str], object]) -> dict[str, dict[str, object]]:
        """Return the config fields changed by earlier forks and by this one, by address."""
        changed = configs_told(self._past, self._store)
        for (address, name), value in recorded.items():
            changed.setdefault(address, {})[name] = value
        return changed

    def _reader(self, storable: Storable) -> Reader:
        make_known(storable.secrets)
        return Reader(storable.classes, self._store.blob, str(self._store))

    def _blob(self, sha256: str) -> bytes:
        return self._blobs[sha256] if sha256 in self._blobs else self._store.blob(sha256)

    def _inputs(self, plan: FlowPlan, storable: Storable, given: Mapping[str, object]) -> dict[str, Any]:
        """Read the changed inputs; raises FlowInvalid also if other inputs are missing."""
        declared = plan.wiring.inputs
        changed = read_inputs(plan.name, {name: declared[name] for name in given}, given)
        make_known(changed.values())
        recorded = self._reader(storable).read(
            self._past.told["inputs"], f"the inputs of run {self._past.run}"
        )
        inputs_of(plan, {**recorded, **changed})
        return changed

    def _answers(
        self, changeable: Changeable, writer: Writer, given: Mapping[str, object]
    ) -> dict[str, dict[str, Any]]:
        """Read the answers and return their records by ask id; raises AnswerRefused."""
        recorded: dict[str, dict[str, Any]] = {}
        for id, value in given.items():
            left = changeable.left_by(id)
            assert left is not None, "else it is no key"
            try:
                values = writer.write(read_answer(id, left, value), id)
            except ValueRefused as refused:
                raise AnswerRefused(id, refused.diagnostics[0]) from refused
            recorded[id] = {"by": "fork", "values": values, "time": self._time}
        return recorded

    def _started(
        self, plan: FlowPlan, writer: Writer, inputs: Mapping[str, Any], changes: Mapping[str, object]
    ) -> dict[str, Any]:
        """Build the first record of the fork: the first record of the run, with the changes applied."""
        recorded = self._past.told
        written = {name: writer.write(value, f"$in.{name}") for name, value in inputs.items()}
        forked = {"run": self._past.run, "changes": writer.write(dict(changes), "changes")}
        return {
            **recorded,
            "flow": plan.name,
            "inputs": {**recorded["inputs"], **written},
            "target": self._flow.target or recorded.get("target", ""),
            "shape": writer.write(storable_of(plan).shape, "the shape"),
            "reads": writer.write(storable_of(plan).reads, "what nodes read"),
            "forked": forked,
            "time": self._time,
        }

    def _refuse_reached(
        self, name: str, reach: ForkCone, forgotten: set[str], answers: Mapping[str, object]
    ) -> None:
        """Raise FlowInvalid for an answer to an ask that the fork asks again, or not at all."""
        problems = [ANSWER_ASKED_AGAIN(id) for id in answers if reach.has(id) or id in forgotten]
        if problems:
            raise FlowInvalid(name, problems, FORK)


def _decided_otherwise(past: Past, records: Iterable[Record]) -> dict[str, dict[str, tuple[Any, str]]]:
    """Return the keys and merged conversations without a record, which remain valid for equal values."""
    copied = {(record.kind, record.path) for record in records}
    every = {
        "keys": (EventKind.MAP_OPENED.value, past.keys),
        "merges": (EventKind.CONTEXTS_MERGED.value, past.merges),
    }
    return {
        name: {
            path: (written, digest)
            for path, (written, digest) in decided.items()
            if digest is not None and (kind, path) not in copied
        }
        for name, (kind, decided) in every.items()
    }


def _cut_off(plan: FlowPlan, past: Past) -> set[str]:
    """Return the firings that were cut off, and are not repeated without an answer."""
    asking = {
        scope.address_of(node)
        for scope in scopes_of(plan)
        for node in scope.plan.nodes
        if isinstance(node.action, Call) and node.action.policy.asks_to_repeat
    }
    return {
        path
        for path, firing in past.firings.items()
        if asking and (firing.is_running or firing.was_cut_off) and address_of(path) in asking
    }


def _same(written: Mapping[str, Any], before: Mapping[str, Any], name: str) -> bool:
    """Return whether a stored value is unchanged: types count, the order of keys does not (S13.2)."""
    return name in before and _text(written[name]) == _text(before[name])


def _text(stored: Any) -> str:
    return json.dumps(stored, sort_keys=True)


def _configs_as_json(
    wanted: Changes, changeable: Changeable, made: Mapping[tuple[str, ...], Config]
) -> dict[tuple[str, str], object]:
    """Return the changed config fields as JSON, by address and name; a resumed fork reads them."""
    recorded: dict[tuple[str, str], object] = {}
    for address, fields in wanted.configs.items():
        config = made[changeable.configs[address].steps]
        for name in fields:
            try:
                recorded[address, name] = config.model_dump(mode="json", include={name})[name]
            except PydanticSerializationError as error:
                problem = CHANGE_NOT_JSON(f"{address}{CONFIG}{name}", error=error)
                raise FlowInvalid(address, [problem], FORK) from error
    return recorded


def _write(store: Store, target: str, past: Past, fork: _Fork) -> Taken:
    """Write a fork atomically, and own it."""
    run, now = new_run_id(), datetime.now(UTC)
    folded = fold(run, fork.records, str(store))
    with store_errors(store):
        target = target or store.find(past.run).target
    noted = StoredRun(run, fork.plan.name, target, RunStatus.RUNNING.value, now, now)
    return Taken(begin(store, noted, Batch(fork.records, fork.blobs)), folded)


@dataclass(frozen=True, slots=True)
class _JournalCopy:
    """Selects the records that a fork copies.

    past: the run that is forked
    reach: the transitive dependents of the changes
    forgotten: firings that are not valid for another reason: an edit, or a failure that is retried
    failures: firings whose failures are unhandled
    answers: data of the records of new answers, by ask id
    time: the time of the fork, as written in records
    """

    past: Past
    reach: ForkCone
    time: str
    forgotten: Collection[str] = ()
    failures: Collection[str] = ()
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    warnings: Sequence[str] = ()  # of changed code
    cut_off: Collection[str] = ()  # firings that are not repeated without an answer

    def copied(self, records: Iterable[Record], started: Mapping[str, Any]) -> Iterator[Record]:
        """Yield the journal of the fork, renumbered: its start, then the records that remain valid."""
        yield _record(1, EventKind.RUN_STARTED.value, "", started)
        seq = 1
        for seq, text in enumerate(self.warnings, 2):
            warning = {"code": "code_changed", "text": text, "time": self.time}
            yield _record(seq, EventKind.WARNING.value, "", warning)
        records = list(records)
        over = _over(records)
        last_asked = {one.path: one.seq for one in records if one.kind == EventKind.ASK_OPENED}
        for record in records:
            data = _data_of(record)
            is_over = record.seq <= over.get(record.path, 0) and not self._counts_attempts(record)
            if data is None or is_over or not self._stands(record, data):
                continue
            seq += 1
            yield Record(seq, record.kind, record.path, self._text(record, data))
            if record.path in self.answers and record.seq == last_asked.get(record.path):
                seq += 1
                yield _record(seq, EventKind.ASK_ANSWERED.value, record.path, self.answers[record.path])

    def _counts_attempts(self, record: Record) -> bool:
        """Return whether a record counts the attempts at a subflow."""
        firing = self.past.firings.get(record.path)
        return firing is not None and firing.is_opener and record.kind in ATTEMPTS

    def _text(self, record: Record, data: dict[str, Any]) -> str:
        """Return the data of a record; an open ask is opened at the time of the fork."""
        if record.kind == EventKind.ASK_OPENED and record.path in self.past.open_asks:
            return json.dumps({**data, "time": self.time}, ensure_ascii=False)
        return record.data

    def _stands(self, record: Record, data: Mapping[str, Any]) -> bool:
        kind, path = record.kind, record.path
        if kind in OF_RUN or (kind == EventKind.WARNING and data["code"] in OF_SESSION):
            return False
        if self.reach.has_whole(path):
            return False
        if path in self.answers:
            return kind in ASKED
        firing = self.past.firings.get(path)
        if firing is None:
            return not self.reach.has(path) and path not in self.forgotten
        if firing.is_opener:
            return self._stands_of_opener(kind, path, firing, data)
        if path in self.reach.paths or path in self.forgotten:
            return False
        return path in self.cut_off or not self._runs_again(firing, kind)

    def _runs_again(self, firing: PastFiring, kind: str) -> bool:
        """Return whether a record is of an unsettled firing, which runs again; an open ask stays open."""
        if firing.failed_at in self.failures:
            return True
        if firing.state not in AGAIN:
            return False
        return firing.ask is None or kind == EventKind.NODE_FINISHED

    def _stands_of_opener(self, kind: str, path: str, firing: PastFiring, data: Mapping[str, Any]) -> bool:
        """Return whether a record of a loop, map or subflow remains valid, whatever is inside."""
        if kind in ATTEMPTS:
            return True
        if path in self.forgotten:
            return False
        match kind:
            case EventKind.LOOP_ROUND:
                count: int = data["round"]
                return count < self.reach.rounds.get(path, count + 1)
            case EventKind.LOOP_EXITED:
                return path not in self.reach.rounds and data["reason"] != LoopEnd.FAILED
            case EventKind.LOOP_TESTED:
                following: int = data["round"] + 1
                return following < self.reach.rounds.get(path, following + 1)
            case EventKind.MAP_OPENED:
                return True
            case _:
                return path not in self.reach.paths and not self._runs_again(firing, kind)


def _over(records: Iterable[Record]) -> dict[str, int]:
    """Return by path the last record that is obsolete: forgotten, or followed by another final state."""
    over: dict[str, int] = {}
    settled: dict[str, int] = {}
    for record in records:
        if record.kind == EventKind.RUN_RESUMED:
            over.update(dict.fromkeys((_data_of(record) or {}).get("forgotten", ()), record.seq))
        elif record.kind == EventKind.NODE_FINISHED and (data := _data_of(record)) is not None:
            if record.path in settled:
                over[record.path] = settled.pop(record.path)
            if data["state"] not in UNSETTLED:
                settled[record.path] = record.seq
    return over


def _data_of(record: Record) -> dict[str, Any] | None:
    """Return the data of a record; None if it was cut off."""
    try:
        data = json.loads(record.data)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _record(seq: int, kind: str, path: str, data: Mapping[str, Any]) -> Record:
    return Record(seq, kind, path, json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def blobs_in(records: Iterable[Record], read: Callable[[str], bytes]) -> dict[str, bytes]:
    """Read the blobs that the records name, and those that histories build on, by their SHA-256."""
    found: dict[str, bytes] = {}
    for record in records:
        todo: list[Any] = [json.loads(record.data)] if '"$"' in record.data else []
        while todo:
            part = todo.pop()
            if isinstance(part, list):
                todo += part
            elif isinstance(part, dict):
                name, value = part.get("$"), part.get("v")
                if name in WITH_BLOBS and isinstance(value, str) and value not in found:
                    found[value] = read(value)
                    if name == "history":
                        stored = json.loads(found[value])
                        needed = (stored["before"], stored.get("of"))
                        todo += [stored["items"], *({"$": "history", "v": digest} for digest in needed)]
                todo += part.values()
    return found
