"""Fork a run: copy the part of its journal that a change leaves valid."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import PydanticSerializationError

from dataflow.core.events import EventKind
from dataflow.core.inputs import read_answer, read_inputs
from dataflow.core.states import LoopEnd, NodeState, RunStatus
from dataflow.core.threads import call_in_thread
from dataflow.durable.changes import CONFIG, FORK, Changeable, changed_configs, rewired
from dataflow.durable.dependents import reach_of
from dataflow.durable.edits import invalidated_by
from dataflow.durable.journal_view import began, fold, unhandled_in
from dataflow.durable.ownership import (
    Taken,
    acquire,
    configs_told,
    flow_of_run,
    go_on,
    inputs_of,
    plan_of,
    store_errors,
)
from dataflow.durable.storable import make_known, storable_of
from dataflow.errors import AnswerRefused, FlowInvalid, StoreError, ValueRefused
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


__all__ = ["FORK", "JournalCopy", "blobs_in", "changeable_of", "prepare_forked", "write_fork"]

#: What is told of a run as a whole: a fork has that of its own.
OF_RUN: Final = frozenset(
    {EventKind.RUN_STARTED, EventKind.RUN_PAUSED, EventKind.RUN_RESUMED, EventKind.RUN_FINISHED}
)
#: Warnings that are of the sitting in which they were given.
OF_SITTING: Final = frozenset({"torn_record", "answer_refused"})
#: What tells how often a flow node was attempted: its frames have names by that.
ATTEMPTS: Final = frozenset({EventKind.NODE_STARTED, EventKind.ATTEMPT_FAILED})
#: What stands of an ask that is answered otherwise.
ASKED: Final = frozenset({EventKind.NODE_STARTED, EventKind.ATTEMPT_FAILED, EventKind.ASK_OPENED})
#: The ends of a firing after which it runs again.
AGAIN: Final = frozenset({None, NodeState.CANCELLED})
#: The ends of a firing that are followed by another when it runs again.
UNSETTLED: Final = frozenset({NodeState.FAILED, NodeState.TIMED_OUT, NodeState.CANCELLED, NodeState.NOT_RUN})
#: The stored values that name a blob.
WITH_BLOBS: Final = ("text", "blob", "history")


@dataclass(frozen=True, slots=True)
class _Fork:
    """A fork that may be: its plan, and its journal with the blobs that it needs."""

    plan: FlowPlan
    records: Sequence[Record]
    blobs: Mapping[str, bytes]


async def prepare_forked(
    flow: Definition, run: str, changes: Mapping[str, object], edited: Edited
) -> PreparedRun:
    """Prepare a fork of a run; whatever is wrong, there is none, and the run stays as it was in any case.

    Raises StoreError, FlowInvalid for changes that cannot be, AnswerRefused, ValueRefused, FlowEdited.
    """
    store = flow.settings.store
    assert store is not None, "the flow has a store"
    past, records = await call_in_thread(_read, (store, run))
    fork = _Forking(flow, store, past, records).fork(changes, edited)
    taken = await acquire(partial(_write, store, flow.target, past, fork), lambda taken: taken.hold.release())
    return await go_on(lambda _: fork.plan, flow.settings, taken, {})


def write_fork(flow: Definition, run: str, changes: Mapping[str, object], edited: Edited) -> str:
    """Write a fork of a run and return its id; it is left to be resumed. Blocks, and raises as above."""
    store = flow.settings.store
    assert store is not None, "the flow has a store"
    past, records = _read(store, run)
    taken = _write(store, flow.target, past, _Forking(flow, store, past, records).fork(changes, edited))
    taken.hold.release()
    return taken.past.run


def changeable_of(flow: Definition, past: Past, store: Store) -> Changeable:
    """Tell what a fork of a run can change."""
    changed = flow_of_run(flow, past, store)
    return Changeable(changed, plan_of(flow, changed, past), past)


def _read(store: Store, run: str) -> tuple[Past, list[Record]]:
    with store_errors(store):
        records = list(store.records(run))
        past = began(fold(run, records, str(store)))
        if past.status is RunStatus.PAUSED:  # its failures stand until it ends; in a fork they are done again
            paused = [record for record in records if record.kind == "run_paused"]
            past.failures = frozenset(json.loads(paused[-1].data).get("failures", ()))
        return past, records


class _Forking:
    """Decides what becomes of a run in a fork of it."""

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
        told = _told_configs(wanted, changeable, configs)
        as_json = {f"{address}{CONFIG}{name}": value for (address, name), value in told.items()}
        started = self._started(
            plan, writer, inputs, {key: as_json.get(key, changes[key]) for key in changes}
        )
        if earlier := self._configs(told):
            started["configs"] = writer.write(earlier, "the configs")
        reach = reach_of(
            plan,
            past,
            inputs=[name for name in inputs if not _same(started["inputs"], past.told["inputs"], name)],
            nodes=wanted.configs.keys(),
            answers=answers.keys(),
        )
        self._refuse_reached(plan.name, reach, forgotten, answers)
        copying = JournalCopy(past, reach, self._time, forgotten, past.failures, answers, changed_code)
        records = list(copying.copied(self._records, started))
        blobs = {**blobs_in(records[1:], self._store.blob), **blobs_in(records[:1], self._blob)}
        return _Fork(plan, records, {**blobs, **self._blobs})

    def _configs(self, told: Mapping[tuple[str, str], object]) -> dict[str, dict[str, object]]:
        """Return what forks have changed of configs so far, by address, with what this one does."""
        changed = configs_told(self._past, self._store)
        for (address, name), value in told.items():
            changed.setdefault(address, {})[name] = value
        return changed

    def _reader(self, storable: Storable) -> Reader:
        make_known(storable.secrets)
        return Reader(storable.classes, self._store.blob, str(self._store))

    def _blob(self, sha256: str) -> bytes:
        return self._blobs[sha256] if sha256 in self._blobs else self._store.blob(sha256)

    def _inputs(self, plan: FlowPlan, storable: Storable, given: Mapping[str, object]) -> dict[str, Any]:
        """Read the inputs that are changed; raises FlowInvalid also where others lack."""
        declared = plan.wiring.inputs
        changed = read_inputs(plan.name, {name: declared[name] for name in given}, given)
        make_known(changed.values())
        told = self._reader(storable).read(self._past.told["inputs"], f"the inputs of run {self._past.run}")
        inputs_of(plan, {**told, **changed})
        return changed

    def _answers(
        self, changeable: Changeable, writer: Writer, given: Mapping[str, object]
    ) -> dict[str, dict[str, Any]]:
        """Read answers and write what is told of them; raises AnswerRefused."""
        told: dict[str, dict[str, Any]] = {}
        for id, value in given.items():
            left = changeable.left_by(id)
            assert left is not None, "else it is no key"
            try:
                values = writer.write(read_answer(id, left, value), id)
            except ValueRefused as refused:
                raise AnswerRefused(id, str(refused)) from refused
            told[id] = {"by": "fork", "values": values, "time": self._time}
        return told

    def _started(
        self, plan: FlowPlan, writer: Writer, inputs: Mapping[str, Any], changes: Mapping[str, object]
    ) -> dict[str, Any]:
        """Make the first record of the fork: how the run had begun, but for what is changed."""
        told = self._past.told
        written = {name: writer.write(value, f"$in.{name}") for name, value in inputs.items()}
        forked = {"run": self._past.run, "changes": writer.write(dict(changes), "changes")}
        return {
            **told,
            "flow": plan.name,
            "inputs": {**told["inputs"], **written},
            "target": self._flow.target or told.get("target", ""),
            "shape": writer.write(storable_of(plan).shape, "the shape"),
            "reads": writer.write(storable_of(plan).reads, "what nodes read"),
            "forked": forked,
            "time": self._time,
        }

    def _refuse_reached(
        self, name: str, reach: ForkCone, forgotten: set[str], answers: Mapping[str, object]
    ) -> None:
        """Raise FlowInvalid for an answer to what is asked anew, or not at all, in the fork."""
        problems = [
            f"ask {id!r} depends on what else is changed, so it is asked anew; answer it when the fork asks"
            for id in answers
            if reach.has(id) or id in forgotten
        ]
        if problems:
            raise FlowInvalid(name, problems, FORK)


def _same(written: Mapping[str, Any], before: Mapping[str, Any], name: str) -> bool:
    """Tell whether a stored value is what it was: types count, the order of keys does not (S13.2)."""
    return name in before and _text(written[name]) == _text(before[name])


def _text(stored: Any) -> str:
    return json.dumps(stored, sort_keys=True)


def _told_configs(
    wanted: Changes, changeable: Changeable, made: Mapping[tuple[str, ...], Config]
) -> dict[tuple[str, str], object]:
    """Tell as JSON what fields of configs are, by address and name, so that the fork is resumed with them."""
    told: dict[tuple[str, str], object] = {}
    for address, fields in wanted.configs.items():
        config = made[changeable.configs[address].steps]
        for name in fields:
            try:
                told[address, name] = config.model_dump(mode="json", include={name})[name]
            except PydanticSerializationError as error:
                problem = f"'{address}{CONFIG}{name}': a fork keeps it as JSON, which it cannot be: {error}"
                raise FlowInvalid(address, [problem], FORK) from error
    return told


def _write(store: Store, target: str, past: Past, fork: _Fork) -> Taken:
    """Write a fork, whole or not at all, and own it."""
    with store_errors(store):
        run, now = new_run_id(), datetime.now(UTC)
        target = target or store.find(past.run).target
        hold = store.begin(StoredRun(run, fork.plan.name, target, RunStatus.RUNNING.value, now, now))
        try:
            store.commit(run, Batch(fork.records, fork.blobs))
            return Taken(hold, fold(run, fork.records, str(store)))
        except BaseException:
            hold.release()
            with suppress(StoreError):  # what is left has no record, and is nothing to go on with
                store.delete(run)
            raise


@dataclass(frozen=True, slots=True)
class JournalCopy:
    """Chooses the records that a fork takes over.

    past: of the run that is forked
    reach: what the changes reach
    forgotten: what does not stand besides, since the flow was edited or what failed is done again
    failures: firings whose failures nothing has handled
    answers: what is told of the asks that are answered otherwise, by path
    time: that of the fork, as records have it
    """

    past: Past
    reach: ForkCone
    time: str
    forgotten: Collection[str] = ()
    failures: Collection[str] = ()
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    warnings: Sequence[str] = ()  # of changed code

    def copied(self, records: Iterable[Record], started: Mapping[str, Any]) -> Iterator[Record]:
        """Yield the journal of the fork, numbered anew: that it has started, then what stands."""
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
        """Tell whether a record tells how often a flow node was attempted."""
        firing = self.past.firings.get(record.path)
        return firing is not None and firing.is_opener and record.kind in ATTEMPTS

    def _text(self, record: Record, data: dict[str, Any]) -> str:
        """Return the text of a record; the time of an open ask begins anew."""
        if record.kind == EventKind.ASK_OPENED and record.path in self.past.open_asks:
            return json.dumps({**data, "time": self.time}, ensure_ascii=False)
        return record.data

    def _stands(self, record: Record, data: Mapping[str, Any]) -> bool:
        kind, path = record.kind, record.path
        if kind in OF_RUN or (kind == EventKind.WARNING and data["code"] in OF_SITTING):
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
        return not (path in self.reach.paths or path in self.forgotten or self._runs_again(firing, kind))

    def _runs_again(self, firing: PastFiring, kind: str) -> bool:
        """Tell whether a record is of what has not settled: a fork begins it anew, an ask stays asked."""
        if firing.failed_at in self.failures:
            return True
        if firing.state not in AGAIN:
            return False
        return firing.ask is None or kind == EventKind.NODE_FINISHED

    def _stands_of_opener(self, kind: str, path: str, firing: PastFiring, data: Mapping[str, Any]) -> bool:
        """Tell whether a record of a loop, map or flow node stands: what is inside may without it."""
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
            case EventKind.MAP_OPENED:
                return True
            case _:
                return path not in self.reach.paths and not self._runs_again(firing, kind)


def _over(records: Iterable[Record]) -> dict[str, int]:
    """Tell by path up to which record all is over: it was forgotten, or has settled otherwise, later."""
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
    """Read the data of a record; None if it was cut off."""
    try:
        data = json.loads(record.data)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _record(seq: int, kind: str, path: str, data: Mapping[str, Any]) -> Record:
    return Record(seq, kind, path, json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def blobs_in(records: Iterable[Record], read: Callable[[str], bytes]) -> dict[str, bytes]:
    """Read the blobs that records name, and those that histories go on from, by their SHA-256."""
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
