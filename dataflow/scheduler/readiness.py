"""The firing rule: what becomes of a node once everything it waits for has settled (S4, S5).

Pure functions of a node's feeds and the values of its frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dataflow.core.states import NO_EDGE, UNSETTLED, Errored, Skip, is_dead

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.compiler.plan import Feed

__all__ = [
    "Conflict",
    "Decision",
    "Fires",
    "Poisoned",
    "Skipped",
    "decide",
    "first_live",
    "first_value",
    "live_values",
]


@dataclass(frozen=True, slots=True)
class Fires:
    """The node fires with the values (S4.4)."""


@dataclass(frozen=True, slots=True)
class Poisoned:
    """A connected port holds an error (S4.2)."""

    cause: Errored


@dataclass(frozen=True, slots=True)
class Skipped:
    """A required port, or every connected port, holds a skip (S4.3)."""

    port: str
    cause: Skip
    live: tuple[str, ...]  # ports that a value came to all the same
    dead: tuple[str, ...]  # but for those that take failures: that none came is what is hoped for


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two edges of a one-value port both brought one (S5.2)."""

    port: str
    edges: tuple[str, ...]


Decision: TypeAlias = Fires | Poisoned | Skipped | Conflict
_FIRES = Fires()


def decide(feeds: Sequence[Feed], values: Sequence[Any]) -> Decision:
    """Apply the firing rule to settled feeds."""
    live: list[str] = []
    dead: list[tuple[Feed, Skip]] = []
    conflict: Conflict | None = None
    has_value = False
    for feed in feeds:
        tokens = [values[slot] for slot in feed.slots]
        if not feed.takes_failure:
            for token in tokens:
                if type(token) is Errored:
                    return Poisoned(token)
        alive = [label for label, token in zip(feed.labels, tokens, strict=True) if type(token) is not Skip]
        if alive:
            has_value = True
            live += [] if feed.is_constant else [feed.port]
            if len(alive) > 1 and not feed.many and conflict is None:
                conflict = Conflict(feed.port, tuple(alive))
        elif tokens and (feed.required or any(token is not NO_EDGE for token in tokens)):
            dead.append((feed, next((token for token in tokens if token is not NO_EDGE), NO_EDGE)))
    if conflict is not None:
        return conflict
    barred = [(feed, cause) for feed, cause in dead if feed.required or not has_value]
    if barred:
        feed, cause = barred[0]
        return Skipped(
            feed.port, cause, tuple(live), tuple(feed.port for feed, _ in dead if not feed.takes_failure)
        )
    return _FIRES


def first_live(slots: Sequence[int], values: Sequence[Any]) -> int | Skip | None:
    """Decide a merge or fallback (S5.3): the slot that wins, a skip if all are, None if not known yet."""
    cause: Skip | None = None
    for slot in slots:
        token = values[slot]
        if token is UNSETTLED:
            return None
        if type(token) is not Skip:
            return slot
        cause = cause or token
    assert cause is not None, "a join has at least one source"
    return cause


def first_value(
    slots: Sequence[int], values: Sequence[Any], settled: int | None
) -> int | Skip | Errored | None:
    """Decide a race (S5.3): the slot that has just settled if it won, what is left if none can win any more.

    Without a slot that has just settled, the first in declared order that has a value wins.
    """
    if settled is not None and not is_dead(values[settled]):
        return settled
    tokens = [values[slot] for slot in slots]
    live = [slot for slot, token in zip(slots, tokens, strict=True) if not is_dead(token)]
    if live:  # not settled yet, or settled in this very step and still to be told
        known = [slot for slot in live if values[slot] is not UNSETTLED]
        return known[0] if settled is None and known else None
    return next((token for token in tokens if type(token) is Errored), tokens[0])


def live_values(slots: Sequence[int], values: Sequence[Any]) -> list[int]:
    """List the slots that hold values, in order."""
    return [slot for slot in slots if not is_dead(values[slot])]
