"""Begin, take over and cancel stored runs; one process owns a run at a time."""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import anyio

from dataflow.base.backend import LoopTime, new_event, threadsafe_call, threadsafe_callback, wait_through
from dataflow.base.failure import line_of_error
from dataflow.core.events import EventKind
from dataflow.core.inputs import read_inputs
from dataflow.core.states import ENDED, NodeState, RunStatus
from dataflow.core.threads import call_in_thread
from dataflow.diagnostics.runs import ASK_EDITED
from dataflow.diagnostics.stores import ANSWER_PENDING, RECORD_CUT, RUN_ENDED, RUN_SUPERSEDED, STORE_FAILED
from dataflow.durable.edits import invalidated_by
from dataflow.durable.journal import Journal, JournalWriter, first_batch
from dataflow.durable.journal_view import began, fold, unhandled_in
from dataflow.durable.replay import Replay, replay_run
from dataflow.durable.storable import make_known, storable_of, throwaway_writer
from dataflow.errors import AnswerRefused, DataflowError, RunTaken, StoreError
from dataflow.runtime.run import PreparedRun
from dataflow.runtime.start import FirstStart, ResumedStart, ResumeWarning, memo_for, reporter_for
from dataflow.scheduler.scheduler import Scheduler
from dataflow.secrets.known import redacted
from dataflow.stores import Batch, Record, StoredRun
from dataflow.values.classes import classes_of
from dataflow.values.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from dataflow.compiler.definition import Definition
    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.policy import Edited, Settings
    from dataflow.durable.journal_view import Past
    from dataflow.durable.storable import Storable
    from dataflow.scheduler.asks import ReadAnswer
    from dataflow.stores import Answer, Hold, Store

__all__ = [
    "Taken",
    "acquire",
    "begin",
    "cancel_stored",
    "configs_told",
    "discard",
    "flow_of_run",
    "go_on",
    "inputs_of",
    "plan_of",
    "plan_of_run",
    "prepare_resumed",
    "prepare_stored",
    "store_errors",
]

T = TypeVar("T")
#: How long a cancelled caller waits for a store, in seconds.
LONGEST_WAIT: Final = 5


class Taken(NamedTuple):
    """An owned run, the state folded from its journal, and its pending answers."""

    hold: Hold
    past: Past
    inbox: Sequence[Answer] = ()


async def prepare_stored(
    plan: FlowPlan, inputs: dict[str, Any], settings: Settings, run_id: str, target: str, pulled: str = ""
) -> PreparedRun:
    """Prepare a new run in the store of the settings; the run takes the inputs over.

    `target` is the location of its flow, `pulled` the one output port to compute, if any.
    """
    store = settings.store
    assert store is not None, "the flow has a store"
    storable = storable_of(plan)
    make_known([*inputs.values(), *storable.secrets])
    writer = throwaway_writer(storable.classes)
    for name, value in inputs.items():
        writer.write(value, f"$in.{name}")
    now = datetime.now(UTC)
    told = {"target": target, **_flow_fields(storable), **({"pulled": pulled} if pulled else {})}
    start = FirstStart(inputs, told, now)
    noted = StoredRun(run_id, plan.name, target, RunStatus.RUNNING.value, now, now)
    batch = first_batch(storable.classes, start.data(plan), now)
    hold = await acquire(partial(begin, store, noted, batch), partial(discard, store, run_id))
    scheduler = _scheduler(plan, settings, run_id, hold, storable, 0)
    return PreparedRun(scheduler, start)


def _flow_fields(storable: Storable) -> dict[str, Any]:
    """Return the fields of a journal record about the flow itself."""
    return {"shape": storable.shape, "reads": storable.reads}


def _scheduler(
    plan: FlowPlan, settings: Settings, run: str, hold: Hold, storable: Storable, seq: int
) -> Scheduler:
    """Build the scheduler of a stored run; release the run if its journal thread cannot be started."""
    assert settings.store is not None, "the flow has a store"
    call = threadsafe_call()
    reporter = reporter_for(settings, plan.name, run, call, seq)
    try:
        journal = Journal(settings.store, run, hold, call)
    except BaseException:  # no more threads can be started
        hold.release()
        raise
    writer = JournalWriter(reporter, journal, storable.classes)
    reporter.record(writer)
    scheduler = Scheduler(plan, settings, reporter, LoopTime(), memo_for(plan))
    scheduler.journal_writer, scheduler.is_plain = writer, False
    return scheduler


async def prepare_resumed(
    plan_for: Callable[[Past], FlowPlan],
    settings: Settings,
    run: str,
    answers: Mapping[str, object],
    edited: Edited,
) -> PreparedRun:
    """Prepare to resume a run from its journal; an error leaves the run unchanged.

    `plan_for` returns the plan of the flow as the run has it. Raises StoreError, RunTaken, FlowEdited,
    AnswerRefused.
    """
    store = settings.store
    assert store is not None, "the flow has a store"
    taken = await acquire(partial(_take, store, run), lambda taken: taken.hold.release())
    return await go_on(plan_for, settings, taken, answers, edited)


def plan_of_run(flow: Definition, past: Past, store: Store) -> FlowPlan:
    """Return the plan of a flow as a run has it: with the changes of forks, or of one output port."""
    return plan_of(flow, flow_of_run(flow, past, store), past)


def flow_of_run(flow: Definition, past: Past, store: Store) -> Definition:
    """Return a flow with the configs that forks have changed on the way to a run."""
    changes = configs_told(past, store)
    if not changes:
        return flow
    # most runs are not forks
    from dataflow.durable.changes import changed_configs, configs_of, rewired

    return rewired(flow, changed_configs(flow.name, configs_of(flow, flow.compile()), changes))


def plan_of(flow: Definition, changed: Definition, past: Past) -> FlowPlan:
    """Return the plan of a flow as changed by forks, or of the one output port that the run computes."""
    pulled = past.told.get("pulled", "")
    plan = changed.compile_for(pulled) if pulled else changed.compile()
    return plan if changed is flow else plan.of(flow.wiring)


def configs_told(past: Past, store: Store) -> dict[str, dict[str, object]]:
    """Return the config fields that forks have changed on the way to a run, by address."""
    told = past.told.get("configs")
    reader = Reader(classes_of(()), store.blob, str(store))
    return {} if told is None else dict(reader.read(told, f"the configs of run {past.run}"))


async def go_on(
    plan_for: Callable[[Past], FlowPlan],
    settings: Settings,
    taken: Taken,
    answers: Mapping[str, object],
    edited: Edited = "refuse",
) -> PreparedRun:
    """Restore an owned run; an error releases the run and leaves it unchanged."""
    try:
        plan = plan_for(taken.past)
        storable = storable_of(plan)
        make_known(storable.secrets)
        scheduler = _scheduler(plan, settings, taken.past.run, taken.hold, storable, taken.past.seq)
    except BaseException:
        taken.hold.release()
        raise
    try:
        return await _restore(scheduler, storable, taken, answers, edited)
    except BaseException:
        assert scheduler.journal_writer is not None, "the run is in a store"
        with anyio.CancelScope(shield=True):
            await scheduler.journal_writer.journal.close()
        raise


def begin(store: Store, run: StoredRun, batch: Batch) -> Hold:
    """Store a new run with its first records, and own it; blocks."""
    with store_errors(store):
        return store.begin(run, batch)


def discard(store: Store, run: str, hold: Hold) -> None:
    """Delete a run that nothing was done of, since its caller was cancelled meanwhile; blocks."""
    hold.release()
    with suppress(DataflowError), store_errors(store):  # what is left can be resumed or cancelled
        store.delete(run)


def _take(store: Store, run: str) -> Taken:
    """Own a run, and read its journal."""
    with store_errors(store):
        before = store.find(run)
        hold = store.hold(run)
        try:
            return Taken(hold, *_read(store, run, before))
        except BaseException:
            hold.release()
            raise


def _read(store: Store, run: str, before: StoredRun) -> tuple[Past, Sequence[Answer]]:
    """Read the journal and the pending answers of an owned run."""
    now = store.find(run)
    if now.updated != before.updated:
        raise RunTaken(str(store), run, RUN_SUPERSEDED())
    if now.status == RunStatus.COMPLETED.value:
        raise RunTaken(str(store), run, RUN_ENDED(status=now.status, what="resumed"))
    past = fold(run, store.records(run), str(store))
    return began(past), store.inbox(run)


async def _restore(
    scheduler: Scheduler,
    storable: Storable,
    taken: Taken,
    answers: Mapping[str, object],
    edited: Edited,
) -> PreparedRun:
    _, past, inbox = taken
    store, writer, plan = scheduler.settings.store, scheduler.journal_writer, scheduler.plan
    assert store is not None
    assert writer is not None
    reader = Reader(storable.classes, store.blob, str(store))
    stored = reader.read(past.told["shape"], f"the flow of run {past.run}")
    past.failures = unhandled_in(plan, past)
    forgotten, changed_code = invalidated_by(plan, storable.shape, past, stored, edited)
    warnings = [ResumeWarning("code_changed", text) for text in changed_code]
    asked_again = {path for path in forgotten if past.ask_at(path) is not None}
    inputs = inputs_of(plan, reader.read(past.told["inputs"], f"the inputs of run {past.run}"))
    replay = scheduler.replay = Replay(scheduler, past, forgotten, reader.read)
    writer.begin_again(replay.reported)
    held = await replay_run(scheduler, replay, inputs)
    writer.arrived = {answer.ask for answer in inbox}
    read: dict[str, ReadAnswer] = {}
    for answer in inbox:
        try:
            read[answer.ask] = scheduler.asking.read_json(answer.ask, answer.value, answer.by)
        except AnswerRefused as error:
            is_edited = answer.ask in asked_again and answer.ask not in scheduler.asking.open
            refused = AnswerRefused(answer.ask, ASK_EDITED()) if is_edited else error
            warnings.append(ResumeWarning("answer_refused", str(refused), [answer.ask]))
    for id, value in answers.items():
        if id in read:
            raise AnswerRefused(id, ANSWER_PENDING())
        if id in asked_again and id not in scheduler.asking.open:
            scheduler.asking.expect(id, value, "resume")
            continue
        read[id] = scheduler.asking.read(id, value, "resume")
    if past.is_torn:
        warnings.append(ResumeWarning("torn_record", str(RECORD_CUT())))
    kept = (text for _, code, text in past.warnings if code != "answer_refused")
    scheduler.restore_warnings(kept)
    told: dict[str, Any] = {"forgotten": sorted(forgotten)} if forgotten else {}
    if stored != storable.shape:  # the accepted edits are the flow of this run from now on
        told |= _flow_fields(storable)
    return PreparedRun(scheduler, ResumedStart(read, held, told, warnings, past.elapsed))


def inputs_of(plan: FlowPlan, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs of a run that the flow declares; raises FlowInvalid if others are missing."""
    declared = plan.wiring.inputs
    return read_inputs(plan.name, declared, {name: given[name] for name in given if name in declared})


async def acquire(take: Callable[[], T], give_up: Callable[[T], None]) -> T:
    """Acquire something in a thread; release it if the caller is cancelled meanwhile.

    The release is awaited, for up to `LONGEST_WAIT` seconds or until a second cancellation; then the thread
    does it later.
    """
    taken: list[T] = []
    guard, is_left, has_begun = Lock(), Event(), Event()
    done = new_event()
    wake = threadsafe_callback(done.set)

    def work() -> None:
        with guard:
            if is_left.is_set():
                return
            has_begun.set()
        try:
            made = take()
            with guard:
                if not is_left.is_set():
                    taken.append(made)
                    return
            give_up(made)
        finally:
            wake()

    try:
        await call_in_thread(work)
    except BaseException:
        with guard:
            is_left.set()
        for made in taken:
            await _call_through(partial(give_up, made))
        if has_begun.is_set() and not taken:
            with anyio.move_on_after(LONGEST_WAIT, shield=True):
                await done.wait()
        raise
    return taken[0]


async def _call_through(function: Callable[[], None]) -> None:
    """Call a function in a thread, even if the caller is cancelled again before the thread has started."""
    done = new_event()
    wake = threadsafe_callback(done.set)

    def work() -> None:
        try:
            function()
        finally:
            wake()

    Thread(target=work, daemon=True, name="dataflow give up").start()
    await wait_through(done)


@contextmanager
def store_errors(store: Store) -> Iterator[None]:
    """Raise any other error of a store as StoreError."""
    try:
        yield
    except DataflowError:
        raise
    except Exception as error:
        raise StoreError(str(store), STORE_FAILED(error=line_of_error(error))) from error


def cancel_stored(store: Store, run: str, reason: str = "cancelled") -> None:
    """Record that a stored run that has paused, or was interrupted, is cancelled.

    Its open asks no longer accept answers; a resume opens them again. Blocks, as stores do. Raises RunTaken
    if the run is being executed or has ended, StoreError if it does not exist.
    """
    hold = store.hold(run)
    try:
        past = fold(run, store.records(run), str(store))
        if past.status in ENDED:
            raise RunTaken(str(store), run, RUN_ENDED(status=past.status.value, what="cancelled"))
        events = enumerate(_cancel_events(past, redacted(reason)), past.seq + 1)
        now = datetime.now(UTC).isoformat()
        records = [
            Record(seq, kind.value, path, json.dumps({**data, "time": now}, ensure_ascii=False))
            for seq, (kind, path, data) in events
        ]
        store.commit(run, Batch(records, status=RunStatus.CANCELLED.value))
    finally:
        hold.release()


def _cancel_events(past: Past, reason: str) -> Iterator[tuple[EventKind, str, dict[str, Any]]]:
    """Yield the events of a cancelled run: open asks and running firings end, inner ones first."""
    if past.is_torn:
        yield EventKind.RUN_RESUMED, "", {}  # the only event that may follow a record that was cut off
    for id in past.open_asks:
        yield EventKind.ASK_CLOSED, id, {"reason": reason}
    ended = {"state": NodeState.CANCELLED.value, "ports": {}, "metadata": {}, "reason": reason}
    for path, firing in reversed(past.firings.items()):
        if firing.state is None and firing.attempt:
            yield EventKind.NODE_FINISHED, path, ended
    data = {"status": RunStatus.CANCELLED.value, "reason": reason, "elapsed": past.elapsed}
    yield EventKind.RUN_FINISHED, "", data
