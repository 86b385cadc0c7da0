"""Cache hits: outcomes found in the memo, and how lookups are reported."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dataflow.core.context import ExecutionContext
from dataflow.core.events import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from dataflow.core.policy import Reach
    from dataflow.values.writer import Json

__all__ = [
    "MOST_CANDIDATES",
    "Candidate",
    "Hit",
    "MemoReport",
    "Origin",
    "Outcome",
    "begun_by",
    "hit_of",
    "read_memo_report",
    "why_missed",
]

#: How many of the newest outcomes of a node type are compared to explain a miss.
MOST_CANDIDATES: Final = 10
#: How many parts of a cache key are named at most.
MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a firing that succeeded; its values are never changed."""

    outputs: Mapping[str, Any]  # by port, without skipped ones
    metadata: Mapping[str, Any]
    origin: Origin
    # content hashes of outputs, as far as they are known
    digests: Mapping[str, bytes] = field(default_factory=dict)
    begun: frozenset[str] = frozenset()  # outputs that are conversations started by the firing


class Origin(NamedTuple):
    """The firing that an outcome is of, and when it was cached (UTC)."""

    run: str
    path: str
    created: datetime


class Hit(NamedTuple):
    """A cached outcome, used in place of the result of a call, and the report about it.

    `written` are its encoded outputs, if the journal may use them as they are.
    """

    outcome: Outcome
    report: MemoReport
    written: Mapping[str, Json] | None = None

    def begun_at(self, key: str) -> Hit:
        """Return the hit for a firing with this key: conversations that it starts get the key as their id."""
        outcome = self.outcome
        outputs = {
            port: _begun_at(key, value) if port in outcome.begun else value
            for port, value in outcome.outputs.items()
        }
        digests = {port: made for port, made in outcome.digests.items() if port not in outcome.begun}
        return Hit(replace(outcome, outputs=outputs, digests=digests), self.report)


def hit_of(outcome: Outcome, reach: Reach, written: Mapping[str, Json] | None = None) -> Hit:
    """Return a hit for an outcome, found in this cache scope."""
    run, path, _ = outcome.origin
    return Hit(outcome, MemoReport(EventKind.MEMO_HIT, reach, "", run, path), written)


def begun_by(key: str, outputs: Mapping[str, Any]) -> frozenset[str]:
    """Return the outputs of a firing with this key that are conversations which it started (S10.1)."""
    return frozenset(
        port
        for port, value in outputs.items()
        if isinstance(value, ExecutionContext) and value.context_id == key
    )


def _begun_at(key: str, context: ExecutionContext) -> ExecutionContext:
    session = key if context.session_id == context.context_id else context.session_id
    return replace(context, context_id=key, session_id=session)


class MemoReport(NamedTuple):
    """The result of a cache lookup for a node, as its event reports it."""

    kind: EventKind
    reach: str
    reason: str = ""  # why it missed
    run: str = ""  # and path: of the firing whose outcome it is
    path: str = ""

    def __str__(self) -> str:
        if self.kind is EventKind.MEMO_HIT:
            return f"remembered ({self.reach}) from {self.path} of run {self.run}"
        verb = "remembered" if self.kind is EventKind.MEMO_MISSED else "memoized"
        return f"not {verb} ({self.reach}): {self.reason}"


def read_memo_report(kind: EventKind, data: Mapping[str, Any]) -> MemoReport:
    """Read the data of an event about a cache lookup."""
    reason, run, path = (str(data.get(name, "")) for name in ("reason", "from_run", "from_path"))
    return MemoReport(kind, str(data["reach"]), reason, run, path)


class Candidate(NamedTuple):
    """A cached outcome of a node type: its cache key, the parts of the key, and the time (UTC)."""

    key: str
    parts: Mapping[str, str]
    created: datetime


def why_missed(
    key: str, parts: Mapping[str, str], known: Iterable[Candidate], now: datetime, ttl: float | None
) -> str:
    """Return why a lookup missed, from cached outcomes of the same node type, newest first."""
    nearest: list[str] | None = None
    for candidate in known:
        if candidate.key == key:
            since = (now - candidate.created).total_seconds() - (ttl or 0)
            return f"expired {since:.3g} s ago"
        names = {*parts, *candidate.parts}
        differing = [name for name in sorted(names) if parts.get(name) != candidate.parts.get(name)]
        if nearest is None or len(differing) < len(nearest):
            nearest = differing
    if nearest is None:
        return "nothing is known of this node type"
    verb = "differs" if len(nearest) == 1 else "differ"
    return f"{_named(nearest)} {verb} from what is known"


def _named(parts: list[str]) -> str:
    if len(parts) > MOST_NAMED:
        return f"{', '.join(parts[:MOST_NAMED])} and {len(parts) - MOST_NAMED} more parts"
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
