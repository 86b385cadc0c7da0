"""Seeking: the outcome of a firing is looked up, waited for, or computed and remembered (S13.1)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from dataflow.base.copies import separate
from dataflow.core.ports import SKIP
from dataflow.core.signature import Shape
from dataflow.core.states import Remembered
from dataflow.core.threads import call_in_thread
from dataflow.errors import StoreError
from dataflow.memo.memo_table import Entry
from dataflow.memo.storage import StoredMemo
from dataflow.scheduler.arguments import outputs_of
from dataflow.scheduler.hits import Hit, Origin, Outcome, begun_by, hit_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from dataflow.compiler.plan import Call, PlanNode
    from dataflow.core.policy import Memo, Reach
    from dataflow.memo.fingerprints import Fingerprint
    from dataflow.memo.memo_table import ProcessMemo
    from dataflow.memo.memoizing import Memoizing
    from dataflow.scheduler.frames import Frame

__all__ = ["Seeker", "Sought", "Unsought"]


class Seeker(Protocol):
    """An attempt that asks for its outcome before it calls its function."""

    is_seeking: bool

    def suspends(self) -> None:
        """Note that the attempt waits, if it is for the first time."""


@dataclass(frozen=True, slots=True, eq=False)
class Sought:
    """What a firing looks for: the outcome under this mark in this table."""

    memoizing: Memoizing
    frame: Frame
    node: PlanNode
    call: Call
    memo: Memo
    reach: Reach  # how far it is remembered in this run
    table: ProcessMemo | StoredMemo
    mark: Fingerprint

    async def found_or_called(
        self,
        current: Seeker,
        calling: Callable[[], Awaitable[Any]],
        has_returned: Callable[[], bool],
    ) -> Any:
        """Return the outcome as a Hit if it is known or another firing computes it, else what calling gives.

        `has_returned` tells of a call that is over whether it has returned by itself and in its time. The
        lead is given up at the end of each attempt, whatever that is, to the first of those who wait.
        """
        flights, key = self.table.flights, self.mark.key
        current.is_seeking = True
        while (waiting := flights.join(key)) is not None:
            current.suspends()
            outcome = await waiting.outcome()
            if outcome is not None:
                if not isinstance(self.table, StoredMemo):
                    self.table.count_as_hit()
                return hit_of(outcome, self.reach)
        lead = _Lead(self, current)
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
            flights.land(key, lead.outcome)


@dataclass(frozen=True, slots=True, eq=False)
class Unsought:
    """A firing of which nothing is remembered, and that has not waited for its slots either."""

    memoizing: Memoizing
    frame: Frame
    node: PlanNode

    async def found_or_called(
        self,
        current: Seeker,
        calling: Callable[[], Awaitable[Any]],
        has_returned: Callable[[], bool],  # noqa: ARG002 - as of what is sought
    ) -> Any:
        """Return what calling gives, once there are slots for it."""
        current.is_seeking = True
        await self.memoizing.begin(current, self.frame, self.node.index)
        return await calling()


class _Lead:
    """The one of those who need an outcome that looks it up and computes it."""

    __slots__ = ("current", "memoizing", "outcome", "reason", "sought")

    def __init__(self, sought: Sought, current: Seeker) -> None:
        self.memoizing = sought.memoizing
        self.sought = sought
        self.current = current
        self.outcome: Outcome | None = None  # what the others are given
        self.reason = ""  # why nothing is known

    async def look(self) -> Hit | None:
        """Look the outcome up."""
        sought, memoizing = self.sought, self.memoizing
        table = sought.table
        if not isinstance(table, StoredMemo):
            since = memoizing.since(sought.memo)  # it may just have come
            known = table.recall(sought.mark.key, since, is_counted=False)
            if known is not None:
                table.count_as_hit()
                return known.hit
            self.reason = memoizing.why_missed(sought, table)
            return None
        self.current.suspends()
        unread = memoizing.unread(sought.frame, sought.node)
        now = memoizing.scheduler.reporter.now()
        look = partial(table.look, sought.mark, sought.call.type.id, unread, now, sought.memo.ttl)
        found = await call_in_thread(look)
        self.reason = found.reason
        if found.problem:
            self._warn(found.problem)
        if found.outcome is None:
            return None
        written = found.written if memoizing.is_at_home else None
        return hit_of(found.outcome, sought.reach, written)

    async def begin(self) -> None:
        """Tell that the call begins, now that its inputs are needed."""
        sought, memoizing = self.sought, self.memoizing
        frame, node = sought.frame, sought.node
        values = frame.values
        for slot in {slot for feed in node.feeds for slot in feed.slots}:
            token = values[slot]
            if type(token) is Remembered:
                self.current.suspends()
                value = await call_in_thread(_read, (token, values))
                if values[slot] is token:
                    values[slot] = value
        memoizing.miss(sought, self.reason)
        await memoizing.begin(self.current, frame, node.index)

    async def keep(self, result: Any) -> None:
        """Remember what a call has returned, and hand it to those who wait; nothing that is no outcome."""
        outcome = self._outcome(result)
        if outcome is None:
            return
        sought, table = self.sought, self.sought.table
        if sought.call.type.shape is Shape.RAW and not result.remembered:
            reason = "the node says that this is not to be remembered"
            self.memoizing.skip(sought.frame, sought.node, sought.reach, reason)
            return
        if isinstance(table, StoredMemo):
            await self._store(table, outcome)
            return
        used_up = next((port for port, value in outcome.outputs.items() if isinstance(value, Iterator)), None)
        if used_up is not None:
            reason = f"output {used_up!r} is used up by the first who reads it"
            self.memoizing.skip(sought.frame, sought.node, sought.reach, reason)
            return
        digests = self.memoizing.digests_read(sought.frame, sought.node, outcome.outputs)
        self._know(outcome, digests)
        assert self.outcome is not None, "it has just been noted"
        entry = Entry(sought.call.type.id, sought.mark.parts, hit_of(self.outcome, sought.reach))
        table.remember(sought.mark.key, entry)

    async def _store(self, table: StoredMemo, outcome: Outcome) -> None:
        sought, place = self.sought, self.sought.node.id

        def keep() -> tuple[Mapping[str, bytes], str]:
            digests = table.digests_of(outcome.outputs)
            whole = replace(outcome, digests=digests)
            return digests, table.keep(sought.mark, sought.call.type.id, whole, place, sought.memo.ttl)

        self.current.suspends()
        try:
            digests, reason = await call_in_thread(keep)
        except StoreError as error:
            digests, reason = {}, ""
            self._warn(str(error))
        if reason:
            self.memoizing.skip(sought.frame, sought.node, sought.reach, reason)
        self._know(outcome, digests)  # those who wait are given it in any case

    def _know(self, outcome: Outcome, digests: Mapping[str, bytes]) -> None:
        frame, outputs = self.sought.frame, self.sought.node.outputs
        for port, made in digests.items():
            if port in outputs:
                frame.note_digest(outputs[port], made)
        self.outcome = replace(outcome, digests=digests)

    def _outcome(self, result: Any) -> Outcome | None:
        """Make an outcome of what was returned: copies, so that nobody changes it."""
        sought = self.sought
        node, frame = sought.node, sought.frame
        try:
            if sought.call.type.shape is Shape.RAW and result.status == "paused":
                return None
            given = outputs_of(node.id, sought.call.type, result)
        except Exception:  # noqa: BLE001 - the firing fails with it where it is settled
            return None
        outputs = {port: separate(value) for port, value in given.items() if value is not SKIP}
        metadata: Any = separate(frame.metadata.get(node.index, {}))
        reporter = self.memoizing.scheduler.reporter
        origin = Origin(reporter.run, frame.path_of(node), reporter.now())
        begun = begun_by(f"{origin.run}/{origin.path}", outputs)
        return Outcome(outputs, metadata, origin, begun=begun)

    def _warn(self, problem: str) -> None:
        sought = self.sought
        path = sought.frame.path_of(sought.node)
        text = f"{path} cannot use what the store remembers: {problem}"
        self.memoizing.scheduler.warn(path, "memo_failed", text)


def _read(token: Remembered, values: Sequence[Any]) -> Any:
    """Read a value that has stayed in the store; raises StoreError if it is damaged.

    Then all others that have stayed there are read too: those that are damaged are dropped, so that the next
    run computes them, and does not fail at one after the other.
    """
    try:
        return token.read()
    except StoreError:
        for other in tuple(values):
            if type(other) is Remembered:
                with suppress(StoreError):
                    other.read()
        raise
