"""Storing: what is done before a run that lives in a store is executed, anew or again (S11, S12)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakKeyDictionary

import anyio
from anyio.lowlevel import checkpoint

from dataflow.backend import caller
from dataflow.entering import read_inputs
from dataflow.errors import AnswerRefused, FlowInvalid, RunTaken, StoreError, ValueRefused
from dataflow.events import Reporter
from dataflow.forgetting import forgotten_by
from dataflow.journal import Journal
from dataflow.owning import owned
from dataflow.past import fold
from dataflow.plan import Call
from dataflow.ports import MISSING
from dataflow.recording import Recording
from dataflow.restoring import Restoring
from dataflow.run import Prepared
from dataflow.scheduler import Scheduler
from dataflow.scope_tree import scopes_of
from dataflow.shape import shape_of
from dataflow.starting import Afresh, Again
from dataflow.states import RunStatus
from dataflow.stores import StoredRun
from dataflow.values import Reader, Writer, classes_of, unstorable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from dataflow.asking import Reading
    from dataflow.past import Past
    from dataflow.plan import FlowPlan
    from dataflow.policy import Edited, Settings
    from dataflow.stores import Answer, Hold, Store
    from dataflow.values import Classes

__all__ = ["prepare_resumed", "prepare_stored"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kept:
    """What follows from a plan alone for all its runs in stores."""

    classes: Classes
    shape: str


_KEPT: Final[WeakKeyDictionary[FlowPlan, Kept]] = WeakKeyDictionary()


def kept_of(plan: FlowPlan) -> Kept:
    """Tell what runs of a plan need to be stored; raises FlowInvalid if a port rules it out (S12.3)."""
    known = _KEPT.get(plan)
    if known is None:
        types = list(_types_given(plan))
        problems = [
            f"{where} cannot be stored: {reason}"
            for where, kind in types
            if (reason := unstorable(kind)) is not None
        ]
        classes = classes_of([*(kind for _, kind in types), *_types_taken(plan)])
        problems += _defaults_refused(plan, classes)
        if problems:
            raise FlowInvalid(plan.name, problems)
        known = _KEPT[plan] = Kept(classes, shape_of(plan).write())
    return known


def _types_given(plan: FlowPlan) -> Iterator[tuple[str, object]]:
    """Go through the types of what is stored: the inputs of a flow and what its nodes give."""
    for name, given in plan.wiring.inputs.items():
        yield f"input {name!r}", given.type
    for scope in scopes_of(plan):
        for node in scope.plan.nodes:
            if isinstance(node.action, Call):
                for port in node.action.type.outputs.values():
                    yield f"port '{scope.address_of(node)}.{port.name}'", port.type


def _types_taken(plan: FlowPlan) -> Iterator[object]:
    """Go through the types of the input ports of the nodes, which may name what others give as Any."""
    for scope in scopes_of(plan):
        for node in scope.plan.nodes:
            if isinstance(node.action, Call):
                yield from (port.type for port in node.action.type.inputs.values())


def _defaults_refused(plan: FlowPlan, classes: Classes) -> Iterator[str]:
    """Tell of the values that nodes give where they fail, and that cannot be stored (S9.3)."""
    writer = Writer(classes, lambda _name, _data: None)
    for scope in scopes_of(plan):
        for node in scope.plan.nodes:
            if node.policy is not None and node.policy.default is not MISSING:
                try:
                    writer.write(node.policy.default, f"{scope.address_of(node)}.out")
                except ValueRefused as refused:
                    yield f"the default of node '{scope.address_of(node)}': {refused}"


async def prepare_stored(
    plan: FlowPlan, inputs: dict[str, Any], settings: Settings, run_id: str, target: str, pulled: str = ""
) -> Prepared:
    """Prepare a new run in the store of the settings; the run takes the inputs over.

    `target` says where its flow is found, `pulled` which port alone is asked for.
    """
    store = settings.store
    assert store is not None, "the flow has a store"
    kept = kept_of(plan)
    writer = Writer(kept.classes, lambda _name, _data: None)
    for name, value in inputs.items():
        writer.write(value, f"$in.{name}")
    now = datetime.now(UTC)
    noted = StoredRun(run_id, plan.name, target, RunStatus.RUNNING.value, now, now)
    hold = await owned(partial(store.begin, noted), lambda hold: hold.release())
    scheduler = _scheduler(plan, settings, run_id, hold, kept, 0)
    told = {"target": target, "shape": kept.shape, **({"pulled": pulled} if pulled else {})}
    return Prepared(scheduler, Afresh(inputs, told), scheduler.recording)


def _scheduler(plan: FlowPlan, settings: Settings, run: str, hold: Hold, kept: Kept, seq: int) -> Scheduler:
    """Make the scheduler of a run that is written down."""
    assert settings.store is not None, "the flow has a store"
    call = caller()
    reporter = Reporter(run, call=call, seq=seq)
    recording = Recording(reporter, Journal(settings.store, run, hold, call), kept.classes)
    reporter.record(recording)
    scheduler = Scheduler(plan, settings, reporter, anyio.current_time)
    scheduler.recording, scheduler.is_plain = recording, False
    return scheduler


async def prepare_resumed(
    plan_for: Callable[[str], FlowPlan],
    settings: Settings,
    run: str,
    answers: Mapping[str, object],
    edited: Edited,
) -> Prepared:
    """Prepare a run to go on from its journal; whatever is wrong, the run stays as it was.

    `plan_for` gives the plan of the flow, or of the one port that was asked for. Raises StoreError, RunTaken,
    FlowEdited, AnswerRefused.
    """
    store = settings.store
    assert store is not None, "the flow has a store"
    hold, past, inbox = await owned(partial(_take, store, run), lambda taken: taken[0].release())
    try:
        plan = plan_for(past.told.get("pulled", ""))
        kept = kept_of(plan)
        scheduler = _scheduler(plan, settings, run, hold, kept, past.seq)
    except BaseException:
        hold.release()
        raise
    try:
        return await _restored(scheduler, kept, past, answers, inbox, edited)
    except BaseException:
        assert scheduler.recording is not None, "the run is in a store"
        with anyio.CancelScope(shield=True):
            await scheduler.recording.journal.close()
        raise


def _take(store: Store, run: str) -> tuple[Hold, Past, Sequence[Answer]]:
    """Own a run, and read what its journal tells."""
    before = store.find(run)
    hold = store.hold(run)
    try:
        now = store.find(run)
        if now.updated != before.updated:
            raise RunTaken(repr(store), run, "has been resumed by somebody else")
        if now.status == RunStatus.COMPLETED.value:
            raise RunTaken(repr(store), run, "has completed; there is nothing to resume")
        past = fold(run, store.records(run))
        if not past.told:
            reason = f"run {run} ended before anything of it was written; start it anew"
            raise StoreError(repr(store), reason)
        return hold, past, store.inbox(run)
    except BaseException:
        hold.release()
        raise


def _inputs_again(plan: FlowPlan, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Give a run what it began with, so far as the flow still takes it; raises FlowInvalid (S11.4)."""
    declared = plan.wiring.inputs
    return read_inputs(plan.name, declared, {name: stored[name] for name in stored if name in declared})


async def _restored(
    scheduler: Scheduler,
    kept: Kept,
    past: Past,
    answers: Mapping[str, object],
    inbox: Sequence[Answer],
    edited: Edited,
) -> Prepared:
    store, recording, plan = scheduler.settings.store, scheduler.recording, scheduler.plan
    assert store is not None
    assert recording is not None
    reader = Reader(kept.classes, store.blob)
    stored = reader.read(past.told["shape"])
    forgotten, warnings = forgotten_by(plan, kept.shape, past, stored, edited)
    past.forget(forgotten)
    restoring = scheduler.restoring = Restoring(scheduler, past, reader.read)
    recording.begin_again(restoring.recalling)
    held = scheduler.start(_inputs_again(plan, reader.read(past.told["inputs"])))
    while scheduler.has_more or (scheduler.has_items and restoring.has_items_left):
        await checkpoint()
        held += scheduler.advance() if scheduler.has_more else scheduler.begin_items()
    read: dict[str, Reading] = {}
    for answer in inbox:
        try:
            read[answer.ask] = scheduler.asking.read_json(answer.ask, answer.value), answer.by
        except AnswerRefused as error:
            warnings.append(("answer_refused", str(error), [answer.ask]))
    for id, value in answers.items():
        if id in read:
            raise AnswerRefused(id, "it has been answered already, and that answer waits in the inbox")
        read[id] = scheduler.asking.read(id, value), "resume"
    if past.is_torn:
        warnings.append(("torn_record", "the newest record of the run was cut off and is dropped", []))
    scheduler.warnings = list(dict.fromkeys([*(text for *_, text in past.warnings), *scheduler.warnings]))
    told: dict[str, Any] = {"forgotten": sorted(forgotten)} if forgotten else {}
    if stored != kept.shape:  # what was edited was let in, and is the flow of this run from now on
        told["shape"] = kept.shape
    return Prepared(scheduler, Again(read, held, told, warnings, past.elapsed), recording)
