"""Look up outcomes in the memo before a node is called, and store new ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from dataflow.base.backend import new_event
from dataflow.base.copies import own_copy
from dataflow.compiler.addresses import address_of, classes_in
from dataflow.compiler.plan import Call
from dataflow.core.events import EventKind
from dataflow.core.ports import SKIP
from dataflow.core.signature import Shape
from dataflow.core.states import RUNNING, Remembered
from dataflow.core.threads import call_in_thread
from dataflow.diagnostics.runs import MEMO_IMPOSSIBLE
from dataflow.errors import NodeFailed, StoreError
from dataflow.memo.fingerprints import fingerprint, input_digests
from dataflow.memo.storage import StoredMemo, problem_in
from dataflow.memo.table import Entry, ProcessMemo, process_memo
from dataflow.scheduler.arguments import outputs_of
from dataflow.scheduler.hits import (
    MOST_CANDIDATES,
    Candidate,
    Hit,
    MemoReport,
    Origin,
    Outcome,
    begun_by,
    hit_of,
    why_missed,
)
from dataflow.scheduler.reports import report_start
from dataflow.values.digests import NoDigest, digest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from datetime import datetime

    from dataflow.base.backend import Event as Wakeup
    from dataflow.compiler.plan import PlanNode
    from dataflow.core.policy import Memo, Reach
    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.memo.fingerprints import Fingerprint
    from dataflow.scheduler.admission import Admission, RunSlots
    from dataflow.scheduler.frames import FiringId, Frame
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Memos"]


class Memos:
    """The part of the scheduler that owns the cache tables of a run, and reports hits and misses."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        settings = scheduler.settings
        self._run = ProcessMemo()
        self._process, store = process_memo, settings.store
        if isinstance(settings.memo, ProcessMemo):
            self._process = settings.memo
        elif settings.memo is not None:
            store = settings.memo
        self._store = store
        # by the scope that was requested: the scope that applies, and its table
        self._tables: dict[Reach, tuple[Reach, ProcessMemo | StoredMemo]] = {}
        self._failing: set[str] = set()  # the addresses of nodes that were warned of
        self._queued: dict[FiringId, Wakeup] = {}  # firings that missed, and wait for their slots

    @property
    def lacks_store(self) -> bool:
        """Whether a node asks for a cache in the store, and there is no store with one."""
        return "store" in self.scheduler.plan.memos and (self._store is None or self._store.outcomes is None)

    def forget_plan(self) -> None:
        """Open the tables again: the plan is another, and may have other classes, which tables read."""
        self._tables.clear()

    def admit(self, newly: list[FiringId], admission: Admission | RunSlots) -> list[FiringId]:
        """Return the firings that may start now; a cache lookup needs no slots (S15.1)."""
        asking = {firing for firing in newly if firing not in self._queued and _has_memo(*firing)}
        granted = admission.admit([firing for firing in newly if firing not in asking])
        new, may_start = set(newly), asking.union(granted)
        return [
            *(firing for firing in granted if firing not in new),
            *(firing for firing in newly if firing in may_start),
        ]

    def has_slots(self, frame: Frame, index: int) -> bool:
        """Resume a firing that has waited for its slots, which it now has; return whether it has waited."""
        queued = self._queued.pop((frame, index), None) if self._queued else None
        if queued is not None:
            queued.set()
        return queued is not None

    async def begin(self, current: Seeker, frame: Frame, index: int) -> None:
        """Wait for the slots of a firing, and report that it is called."""
        admission, reporter = self.scheduler.admission, self.scheduler.reporter
        if admission is not None:
            firing = frame, index
            assert admission.later is not None, "the firing is run by a worker"
            queued = self._queued[firing] = new_event()
            admission.later(partial(self._queue, firing))
            current.suspends()
            try:
                await queued.wait()
            finally:
                self._queued.pop(firing, None)
        if reporter.is_listening:
            report_start(reporter, frame, index)
        current.is_seeking = False
        if admission is not None:
            admission.begun((frame, index))

    def _queue(self, firing: FiringId) -> None:
        """Have a running firing, which has missed, wait for its slots."""
        if firing in self._queued:  # else it was cancelled meanwhile
            frame, index = firing
            self.scheduler.make_ready(frame, index)
            frame.states[index] = RUNNING

    def seek(self, frame: Frame, node: PlanNode, call: Call) -> Hit | MemoLookup | NoMemo | None:
        """Look up the outcome of a firing: a hit, or a lookup to complete; None for a plain call."""
        memo = call.memo
        if memo is None:
            return None
        reach, table = self._tables.get(memo.reach) or self._table(memo.reach)
        if isinstance(table, StoredMemo) and (reason := table.reason_against(call.type)):
            self.fail(frame, node, reach, reason)
            return self._uncached(frame, node)
        try:
            cache_key = fingerprint(call, *input_digests(frame, node, call), memo.environment)
        except NoDigest as refused:
            self.fail(frame, node, reach, str(refused))
            return self._uncached(frame, node)
        except NodeFailed:  # an input does not fit: the call fails with that
            return self._uncached(frame, node)
        if isinstance(table, ProcessMemo):
            known = table.recall(cache_key.key, None if memo.ttl is None else self.since(memo))
            if known is not None:
                return known.hit
        return MemoLookup(self, frame, node, call, memo, reach, table, cache_key)

    def since(self, memo: Memo) -> datetime | None:
        """Return the time before which cached outcomes have expired."""
        return None if memo.ttl is None else self.scheduler.reporter.now() - timedelta(seconds=memo.ttl)

    def why_missed(self, lookup: MemoLookup, table: ProcessMemo) -> str:
        """Explain why a table in memory does not have the outcome."""
        known = [
            Candidate(key, one.parts, one.created)
            for key, one in table.newest(lookup.call.type.id, MOST_CANDIDATES)
        ]
        now, cache_key = self.scheduler.reporter.now(), lookup.cache_key
        return why_missed(cache_key.key, cache_key.parts, known, now, lookup.memo.ttl)

    def report_hit(self, frame: Frame, node: PlanNode, hit: Hit) -> None:
        """Report a hit, and keep its metadata and content hashes."""
        outcome, report, _ = hit
        if outcome.metadata:
            frame.note_metadata(node.index, own_copy(dict(outcome.metadata)))  # type: ignore[arg-type]  # a dict
        if outcome.digests:
            for port, made in outcome.digests.items():
                if port in node.outputs:
                    frame.note_digest(node.outputs[port], made)
        frame.note_memo(node.index, report)
        if self.scheduler.reporter.is_listening:
            call = node.action
            assert isinstance(call, Call), "only calls have a memo"
            data = {
                "reach": report.reach,
                "type": call.type.id,
                "from_run": report.run,
                "from_path": report.path,
            }
            self.scheduler.report(EventKind.MEMO_HIT, frame, node, **data, since=outcome.origin.created)

    def skip(self, frame: Frame, node: PlanNode, reach: Reach, reason: str) -> None:
        """Report that an outcome is not cached, or not looked up."""
        self._report(EventKind.MEMO_SKIPPED, frame, node, reach, reason)

    def fail(self, frame: Frame, node: PlanNode, reach: Reach, reason: str) -> None:
        """Report that an outcome cannot be cached, and warn of that once for each node of the flow."""
        self.skip(frame, node, reach, reason)
        path = frame.path_of(node)
        address = address_of(path)
        if address not in self._failing:
            self._failing.add(address)
            self.scheduler.warn(path, "memo_impossible", str(MEMO_IMPOSSIBLE(address, reason=reason)))

    def miss(self, lookup: MemoLookup, reason: str) -> None:
        """Report a miss."""
        self._report(EventKind.MEMO_MISSED, lookup.frame, lookup.node, lookup.reach, reason)

    def _report(self, kind: EventKind, frame: Frame, node: PlanNode, reach: Reach, reason: str) -> None:
        frame.note_memo(node.index, MemoReport(kind, reach, reason))
        self.scheduler.report(kind, frame, node, reach=reach, reason=reason)

    def unread(self, frame: Frame, node: PlanNode) -> frozenset[str]:
        """Return the ports whose values may stay in the store, since only nodes read them."""
        scheduler, slots = self.scheduler, frame.plan.memo
        is_reported = scheduler.reporter.has_listeners or (
            scheduler.journal_writer is not None and not self.is_at_home
        )
        if is_reported or slots is None:
            return frozenset()
        return frozenset(port for port, slot in node.outputs.items() if slot in slots.unread)

    @property
    def is_at_home(self) -> bool:
        """Whether the run is stored in the store with the cache."""
        return self.scheduler.journal_writer is not None and self._store is self.scheduler.settings.store

    def digests_read(self, frame: Frame, node: PlanNode, outputs: Mapping[str, Any]) -> dict[str, bytes]:
        """Hash the outputs that nodes with a memo read: those look them up next."""
        plan = frame.plan
        found: dict[str, bytes] = {}
        for port, slot in node.outputs.items():
            readers = (plan.nodes[reader].action for reader in plan.readers[slot])
            if port in outputs and any(isinstance(one, Call) and one.memo is not None for one in readers):
                try:
                    found[port] = digest(outputs[port])
                except NoDigest:  # reported where it is read
                    continue
        return found

    def _uncached(self, frame: Frame, node: PlanNode) -> NoMemo | None:
        return None if self.scheduler.admission is None else NoMemo(self, frame, node)

    def _table(self, reach: Reach) -> tuple[Reach, ProcessMemo | StoredMemo]:
        found: tuple[Reach, ProcessMemo | StoredMemo]
        if reach == "process":
            found = reach, self._process
        elif reach == "store" and not self.lacks_store:
            found = reach, self._store_table()
        else:
            found = "run", self._run
        self._tables[reach] = found
        return found

    def _store_table(self) -> StoredMemo:
        store = self._store
        assert store is not None, "it is not lacking"
        assert store.outcomes is not None, "as above"
        run = self.scheduler.reporter.run if self.is_at_home else ""
        return StoredMemo(store, store.outcomes, classes_in(self.scheduler.plan), run)


def _has_memo(frame: Frame, index: int) -> bool:
    action = frame.plan.nodes[index].action
    return isinstance(action, Call) and action.memo is not None


class Seeker(Protocol):
    """An attempt that looks up its outcome before it calls its function."""

    is_seeking: bool

    def suspends(self) -> None:
        """Note that the attempt waits, if it does so for the first time."""


@dataclass(frozen=True, slots=True, eq=False)
class MemoLookup:
    """The lookup of one cache key in one table, for one firing."""

    memos: Memos
    frame: Frame
    node: PlanNode
    call: Call
    memo: Memo
    reach: Reach  # the cache scope that applies in this run
    table: ProcessMemo | StoredMemo
    cache_key: Fingerprint

    async def found_or_called(
        self,
        current: Seeker,
        calling: Callable[[], Awaitable[Any]],
        has_returned: Callable[[], bool],
    ) -> Any:
        """Return a cached or concurrently computed outcome as a Hit, else the result of `calling`.

        `has_returned` reports whether a finished call has returned by itself and in time. At the end of each
        attempt, whatever its outcome, the lead passes to the first waiter.
        """
        calls, key = self.table.calls, self.cache_key.key
        current.is_seeking = True
        while (waiting := calls.join(key)) is not None:
            current.suspends()
            outcome = await waiting.outcome()
            if outcome is not None:
                if not isinstance(self.table, StoredMemo):
                    self.table.count_as_hit()
                return hit_of(outcome, self.reach)
        lead = _Leader(self, current)
        try:
            hit = await lead.look()
            if hit is not None:
                lead.outcome = hit.outcome
                return hit
            await lead.begin()
            result = await calling()
            if has_returned():
                await lead.keep(result)
            return result
        finally:
            calls.land(key, lead.outcome)


@dataclass(frozen=True, slots=True, eq=False)
class NoMemo:
    """A firing that is not cached, and has not waited for its slots either."""

    memos: Memos
    frame: Frame
    node: PlanNode

    async def found_or_called(
        self,
        current: Seeker,
        calling: Callable[[], Awaitable[Any]],
        has_returned: Callable[[], bool],  # noqa: ARG002 - as in MemoLookup
    ) -> Any:
        """Return the result of `calling`, once there are slots for it."""
        current.is_seeking = True
        await self.memos.begin(current, self.frame, self.node.index)
        return await calling()


class _Leader:
    """The leader of a single-flight computation: it looks up the outcome, or computes it."""

    __slots__ = ("current", "lookup", "memos", "outcome", "reason")

    def __init__(self, lookup: MemoLookup, current: Seeker) -> None:
        self.memos = lookup.memos
        self.lookup = lookup
        self.current = current
        self.outcome: Outcome | None = None  # the result for the waiters
        self.reason = ""  # why the lookup missed

    async def look(self) -> Hit | None:
        """Look the outcome up."""
        lookup, memos = self.lookup, self.memos
        table = lookup.table
        if not isinstance(table, StoredMemo):
            since = memos.since(lookup.memo)  # it may have been cached just now
            known = table.recall(lookup.cache_key.key, since, is_counted=False)
            if known is not None:
                table.count_as_hit()
                return known.hit
            self.reason = memos.why_missed(lookup, table)
            return None
        self.current.suspends()
        unread = memos.unread(lookup.frame, lookup.node)
        now = memos.scheduler.reporter.now()
        look = partial(table.look, lookup.cache_key, lookup.call.type.id, unread, now, lookup.memo.ttl)
        found = await call_in_thread(look)
        self.reason = found.reason
        for problem in found.problems:
            self._warn(problem)
        if found.outcome is None:
            return None
        written = found.written if memos.is_at_home else None
        return hit_of(found.outcome, lookup.reach, written)

    async def begin(self) -> None:
        """Report the miss, read the inputs that stayed in the store, and wait for slots."""
        lookup, memos = self.lookup, self.memos
        frame, node = lookup.frame, lookup.node
        values = frame.values
        for slot in {slot for feed in node.feeds for slot in feed.slots}:
            token = values[slot]
            if type(token) is Remembered:
                self.current.suspends()
                value = await call_in_thread(_read, (token, values))
                if values[slot] is token:
                    values[slot] = value
        memos.miss(lookup, self.reason)
        await memos.begin(self.current, frame, node.index)

    async def keep(self, result: Any) -> None:
        """Cache the outcome of a call and pass it to the waiters; ignore other results."""
        outcome = self._outcome(result)
        if outcome is None:
            return
        lookup, table = self.lookup, self.lookup.table
        if lookup.call.type.shape is Shape.RAW and not result.remembered:
            reason = "the node says that this is not to be remembered"
            self.memos.skip(lookup.frame, lookup.node, lookup.reach, reason)
            return
        if isinstance(table, StoredMemo):
            await self._store(table, outcome)
            return
        used_up = next((port for port, value in outcome.outputs.items() if isinstance(value, Iterator)), None)
        if used_up is not None:
            reason = f"output {used_up!r} is used up by the first who reads it"
            self.memos.fail(lookup.frame, lookup.node, lookup.reach, reason)
            return
        digests = self.memos.digests_read(lookup.frame, lookup.node, outcome.outputs)
        self._note(outcome, digests)
        assert self.outcome is not None, "it has just been noted"
        entry = Entry(lookup.call.type.id, lookup.cache_key.parts, hit_of(self.outcome, lookup.reach))
        table.remember(lookup.cache_key.key, entry)

    async def _store(self, table: StoredMemo, outcome: Outcome) -> None:
        lookup, place = self.lookup, self.lookup.node.id

        def keep() -> tuple[Mapping[str, bytes], str]:
            digests = table.digests_of(outcome.outputs)
            whole = replace(outcome, digests=digests)
            return digests, table.keep(lookup.cache_key, lookup.call.type.id, whole, place, lookup.memo.ttl)

        self.current.suspends()
        try:
            digests, reason = await call_in_thread(keep)
        except StoreError as error:
            digests, reason = {}, ""
            self._warn(problem_in(error))
        if reason:
            self.memos.fail(lookup.frame, lookup.node, lookup.reach, reason)
        self._note(outcome, digests)  # waiters receive it even if it could not be stored

    def _note(self, outcome: Outcome, digests: Mapping[str, bytes]) -> None:
        frame, outputs = self.lookup.frame, self.lookup.node.outputs
        for port, made in digests.items():
            if port in outputs:
                frame.note_digest(outputs[port], made)
        self.outcome = replace(outcome, digests=digests)

    def _outcome(self, result: Any) -> Outcome | None:
        """Return the outcome of a result, as copies that no code changes."""
        lookup = self.lookup
        node, frame = lookup.node, lookup.frame
        try:
            if lookup.call.type.shape is Shape.RAW and result.status == "paused":
                return None
            given = outputs_of(node.id, lookup.call.type, result)
        except Exception:  # noqa: BLE001 - the firing fails with it where it is settled
            return None
        outputs = {port: own_copy(value) for port, value in given.items() if value is not SKIP}
        metadata: Any = own_copy(frame.metadata.get(node.index, {}))
        reporter = self.memos.scheduler.reporter
        origin = Origin(reporter.run, frame.path_of(node), reporter.now())
        begun = begun_by(f"{origin.run}/{origin.path}", outputs)
        return Outcome(outputs, metadata, origin, begun=begun)

    def _warn(self, problem: Diagnostic) -> None:
        lookup = self.lookup
        path = lookup.frame.path_of(lookup.node)
        self.memos.scheduler.warn(path, "memo_failed", str(problem.within(path)))


def _read(token: Remembered, values: Sequence[Any]) -> Any:
    """Read a value that has stayed in the store; raises StoreError if it is corrupt.

    Then read all others that have stayed there, which drops the corrupt ones from the cache: the next run
    computes all of them instead of failing at one after the other.
    """
    try:
        return token.read()
    except StoreError:
        for other in tuple(values):
            if type(other) is Remembered:
                with suppress(StoreError):
                    other.read()
        raise
