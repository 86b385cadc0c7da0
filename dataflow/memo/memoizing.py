"""Memoizing: a firing whose node has a memo asks it first, and is called only if nothing is known (S13.1)."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from dataflow.base.backend import new_event
from dataflow.base.copies import separate
from dataflow.compiler.addresses import classes_in
from dataflow.compiler.plan import Call
from dataflow.core.events import EventKind
from dataflow.core.states import RUNNING
from dataflow.errors import NodeFailed
from dataflow.memo.fingerprints import fingerprint
from dataflow.memo.memo_inputs import input_digests
from dataflow.memo.memo_table import ProcessMemo, process_memo
from dataflow.memo.seeking import Sought, Unsought
from dataflow.memo.storage import StoredMemo
from dataflow.scheduler.hits import MOST_CANDIDATES, Candidate, MemoTold, why_missed
from dataflow.scheduler.reports import report_start
from dataflow.values.digests import NoDigest, digest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from dataflow.base.backend import Event as Wakeup
    from dataflow.compiler.plan import PlanNode
    from dataflow.core.policy import Memo, Reach
    from dataflow.memo.seeking import Seeker
    from dataflow.scheduler.admission import Admission, RunSlots
    from dataflow.scheduler.frames import FiringId, Frame
    from dataflow.scheduler.hits import Hit
    from dataflow.scheduler.scheduler import Scheduler

__all__ = ["Memoizing"]


class Memoizing:
    """The part of the scheduler that knows where outcomes are remembered, and tells what came of it."""

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
        self._tables: dict[Reach, tuple[Reach, ProcessMemo | StoredMemo]] = {}  # that were asked
        self._queued: dict[FiringId, Wakeup] = {}  # firings that are to be called, and wait for their slots

    @property
    def lacks_store(self) -> bool:
        """Whether there is no store that remembers, though a node asks for one."""
        return "store" in self.scheduler.plan.memos and (self._store is None or self._store.outcomes is None)

    def forget_plan(self) -> None:
        """Ask tables anew: the plan is another, and may have other classes, which tables read."""
        self._tables.clear()

    def admit(self, newly: list[FiringId], admission: Admission | RunSlots) -> list[FiringId]:
        """Return the firings that may start now; those that ask first need no slots for that (S15.1)."""
        asking = {firing for firing in newly if firing not in self._queued and _is_remembered(*firing)}
        granted = admission.admit([firing for firing in newly if firing not in asking])
        new, may_start = set(newly), asking.union(granted)
        return [
            *(firing for firing in granted if firing not in new),
            *(firing for firing in newly if firing in may_start),
        ]

    def has_slots(self, frame: Frame, index: int) -> bool:
        """Let a firing go on that has its slots now, if it has waited for them; tells whether it has."""
        queued = self._queued.pop((frame, index), None) if self._queued else None
        if queued is not None:
            queued.set()
        return queued is not None

    async def begin(self, current: Seeker, frame: Frame, index: int) -> None:
        """Wait for the slots of a firing, and tell that it is called now."""
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
        """Have a firing wait for its slots that runs as far as it has asked."""
        if firing in self._queued:  # else it was cancelled meanwhile
            frame, index = firing
            self.scheduler.make_ready(frame, index)
            frame.states[index] = RUNNING

    def seek(self, frame: Frame, node: PlanNode, call: Call) -> Hit | Sought | Unsought | None:
        """Ask for the outcome of a firing: it is known, or is asked for; None if it is only to be called."""
        memo = call.memo
        if memo is None:
            return None
        reach, table = self._tables.get(memo.reach) or self._table(memo.reach)
        if isinstance(table, StoredMemo) and (reason := table.reason_against(call.type)):
            self.skip(frame, node, reach, reason)
            return self._unsought(frame, node)
        try:
            mark = fingerprint(call, *input_digests(frame, node, call), memo.environment)
        except NoDigest as refused:
            self.skip(frame, node, reach, str(refused))
            return self._unsought(frame, node)
        except NodeFailed:  # an input does not fit: the call fails with that
            return self._unsought(frame, node)
        if isinstance(table, ProcessMemo):
            known = table.recall(mark.key, None if memo.ttl is None else self.since(memo))
            if known is not None:
                return known.hit
        return Sought(self, frame, node, call, memo, reach, table, mark)

    def since(self, memo: Memo) -> datetime | None:
        """Return the time before which what was remembered does not count."""
        return None if memo.ttl is None else self.scheduler.reporter.now() - timedelta(seconds=memo.ttl)

    def why_missed(self, sought: Sought, table: ProcessMemo) -> str:
        """Tell why a table in memory has not what is sought."""
        known = [
            Candidate(key, one.parts, one.created)
            for key, one in table.newest(sought.call.type.id, MOST_CANDIDATES)
        ]
        now, mark = self.scheduler.reporter.now(), sought.mark
        return why_missed(mark.key, mark.parts, known, now, sought.memo.ttl)

    def tell_hit(self, frame: Frame, node: PlanNode, hit: Hit) -> None:
        """Tell of an outcome that was known."""
        outcome, told, _ = hit
        if outcome.metadata:
            frame.note_metadata(node.index, separate(dict(outcome.metadata)))  # type: ignore[arg-type]  # a dict
        if outcome.digests:
            for port, made in outcome.digests.items():
                if port in node.outputs:
                    frame.note_digest(node.outputs[port], made)
        frame.note_memo(node.index, told)
        if self.scheduler.reporter.is_listening:
            call = node.action
            assert isinstance(call, Call), "only calls have a memo"
            data = {"reach": told.reach, "type": call.type.id, "from_run": told.run, "from_path": told.path}
            self.scheduler.report(EventKind.MEMO_HIT, frame, node, **data, since=outcome.origin.created)

    def skip(self, frame: Frame, node: PlanNode, reach: Reach, reason: str) -> None:
        """Tell that an outcome is not remembered, or not asked for."""
        self._tell(EventKind.MEMO_SKIPPED, frame, node, reach, reason)

    def miss(self, sought: Sought, reason: str) -> None:
        """Tell that an outcome was not known."""
        self._tell(EventKind.MEMO_MISSED, sought.frame, sought.node, sought.reach, reason)

    def _tell(self, kind: EventKind, frame: Frame, node: PlanNode, reach: Reach, reason: str) -> None:
        frame.note_memo(node.index, MemoTold(kind, reach, reason))
        self.scheduler.report(kind, frame, node, reach=reach, reason=reason)

    def unread(self, frame: Frame, node: PlanNode) -> frozenset[str]:
        """Name the ports whose values may stay in the store, since nobody else is told them."""
        scheduler, slots = self.scheduler, frame.plan.memo
        is_told = scheduler.reporter.has_listeners or (
            scheduler.recording is not None and not self.is_at_home
        )
        if is_told or slots is None:
            return frozenset()
        return frozenset(port for port, slot in node.outputs.items() if slot in slots.unread)

    @property
    def is_at_home(self) -> bool:
        """Whether the run lives in the store in which outcomes are remembered."""
        return self.scheduler.recording is not None and self._store is self.scheduler.settings.store

    def digests_read(self, frame: Frame, node: PlanNode, outputs: Mapping[str, Any]) -> dict[str, bytes]:
        """Digest the outputs that nodes with a memo read: they ask for them next."""
        plan = frame.plan
        found: dict[str, bytes] = {}
        for port, slot in node.outputs.items():
            readers = (plan.nodes[reader].action for reader in plan.readers[slot])
            if port in outputs and any(isinstance(one, Call) and one.memo is not None for one in readers):
                try:
                    found[port] = digest(outputs[port])
                except NoDigest:  # those who read it are told why
                    continue
        return found

    def _unsought(self, frame: Frame, node: PlanNode) -> Unsought | None:
        return None if self.scheduler.admission is None else Unsought(self, frame, node)

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


def _is_remembered(frame: Frame, index: int) -> bool:
    action = frame.plan.nodes[index].action
    return isinstance(action, Call) and action.memo is not None
