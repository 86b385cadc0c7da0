"""Forking: a run that goes on from what another has settled, with some of it changed (S13.5)."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticSerializationError

from dataflow.core.inputs import read_answer, read_inputs
from dataflow.core.states import RunStatus
from dataflow.core.threads import call_in_thread
from dataflow.durable.changes import CONFIG, FORK, Changeable, changed_configs
from dataflow.durable.copying import Copying, blobs_in
from dataflow.durable.forgetting import forgotten_by
from dataflow.durable.owning import owned, told_by
from dataflow.durable.past import began, fold
from dataflow.durable.reaching import reach_of
from dataflow.durable.rewiring import rewired
from dataflow.durable.storable import make_known, storable_of
from dataflow.durable.storing import Taken, configs_told, flow_of_run, go_on, inputs_of, plan_of
from dataflow.durable.unhandled import unhandled_in
from dataflow.errors import AnswerRefused, FlowInvalid, StoreError, ValueRefused
from dataflow.runtime.run import new_run_id
from dataflow.stores import Batch, StoredRun
from dataflow.values.reader import Reader
from dataflow.values.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.compiler.definition import Definition
    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.config import Config
    from dataflow.core.policy import Edited
    from dataflow.durable.changes import Changes
    from dataflow.durable.past import Past
    from dataflow.durable.reaching import Reached
    from dataflow.durable.storable import Storable
    from dataflow.runtime.run import Prepared
    from dataflow.stores import Record, Store

__all__ = ["FORK", "changeable_of", "prepare_forked", "write_fork"]


@dataclass(frozen=True, slots=True)
class _Fork:
    """A fork that may be: its plan, and its journal with the blobs that it needs."""

    plan: FlowPlan
    records: Sequence[Record]
    blobs: Mapping[str, bytes]


async def prepare_forked(
    flow: Definition, run: str, changes: Mapping[str, object], edited: Edited
) -> Prepared:
    """Prepare a fork of a run; whatever is wrong, there is none, and the run stays as it was in any case.

    Raises StoreError, FlowInvalid for changes that cannot be, AnswerRefused, ValueRefused, FlowEdited.
    """
    store = flow.settings.store
    assert store is not None, "the flow has a store"
    past, records = await call_in_thread(_read, (store, run))
    fork = _Forking(flow, store, past, records).fork(changes, edited)
    taken = await owned(partial(_write, store, flow.target, past, fork), lambda taken: taken.hold.release())
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
    with told_by(store):
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
        forgotten, changed_code = forgotten_by(plan, before.shape, past, stored, edited)
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
        copying = Copying(past, reach, self._time, forgotten, past.failures, answers, changed_code)
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
        self, name: str, reach: Reached, forgotten: set[str], answers: Mapping[str, object]
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
    with told_by(store):
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
