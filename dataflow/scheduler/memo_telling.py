"""Memo telling: what is said of a node with a memo, that it was remembered, or why it was not (S13.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dataflow.core.events import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

__all__ = ["Candidate", "MemoTold", "told_of_memo", "why_missed"]

#: Among how many of the newest outcomes of a node type the nearest is looked for.
MOST_CANDIDATES: Final = 10
#: How many parts of a fingerprint are named at most.
MOST_NAMED: Final = 5


class Candidate(NamedTuple):
    """What is known of a node type: the key, the parts that it is made of, when it was remembered (UTC)."""

    key: str
    parts: Mapping[str, str]
    created: datetime


def why_missed(
    key: str, parts: Mapping[str, str], known: Iterable[Candidate], now: datetime, ttl: float | None
) -> str:
    """Tell why nothing was found under a key, from what is known of its node type, the newest first."""
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


class MemoTold(NamedTuple):
    """What became of asking the memo for the outcome of a node, as its event tells it."""

    kind: EventKind
    reach: str
    reason: str = ""  # why it is not known
    run: str = ""  # and path: of the firing whose outcome it is
    path: str = ""

    def __str__(self) -> str:
        if self.kind is EventKind.MEMO_HIT:
            return f"remembered ({self.reach}) from {self.path} of run {self.run}"
        verb = "remembered" if self.kind is EventKind.MEMO_MISSED else "memoized"
        return f"not {verb} ({self.reach}): {self.reason}"


def told_of_memo(kind: EventKind, data: Mapping[str, Any]) -> MemoTold:
    """Read what an event tells of the memo of a node."""
    reason, run, path = (str(data.get(name, "")) for name in ("reason", "from_run", "from_path"))
    return MemoTold(kind, str(data["reach"]), reason, run, path)
