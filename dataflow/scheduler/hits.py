"""Hits: outcomes that are known, so that a firing is not called (S13.1)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from dataflow.core.context import ExecutionContext
from dataflow.core.events import EventKind
from dataflow.scheduler.memo_telling import MemoTold

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from dataflow.core.policy import Reach
    from dataflow.values.writer import Json

__all__ = ["Hit", "Origin", "Outcome", "begun_by", "hit_of"]


class Origin(NamedTuple):
    """Which firing an outcome is of, and when it was remembered (UTC)."""

    run: str
    path: str
    created: datetime


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a firing that succeeded came to; nobody changes what is in it."""

    outputs: Mapping[str, Any]  # by port; those that it left out are not among them
    metadata: Mapping[str, Any]
    origin: Origin
    digests: Mapping[str, bytes] = field(default_factory=dict)  # of outputs, as far as they are known
    begun: frozenset[str] = frozenset()  # the outputs that are conversations which the firing began


class Hit(NamedTuple):
    """An outcome that is known, in the place of what calling the node would return; and what is told of it.

    `written` are its outputs as the codec wrote them, where the journal may take them as they are.
    """

    outcome: Outcome
    told: MemoTold
    written: Mapping[str, Json] | None = None

    def begun_at(self, key: str) -> Hit:
        """Return the hit at a place of this key: the conversations that it begins are those of the place."""
        outcome = self.outcome
        outputs = {
            port: _begun_at(key, value) if port in outcome.begun else value
            for port, value in outcome.outputs.items()
        }
        digests = {port: made for port, made in outcome.digests.items() if port not in outcome.begun}
        return Hit(replace(outcome, outputs=outputs, digests=digests), self.told)


def begun_by(key: str, outputs: Mapping[str, Any]) -> frozenset[str]:
    """Name the outputs of a firing of this key that are conversations which it began (S10.1)."""
    return frozenset(
        port
        for port, value in outputs.items()
        if isinstance(value, ExecutionContext) and value.context_id == key
    )


def _begun_at(key: str, context: ExecutionContext) -> ExecutionContext:
    session = key if context.session_id == context.context_id else context.session_id
    return replace(context, context_id=key, session_id=session)


def hit_of(outcome: Outcome, reach: Reach, written: Mapping[str, Json] | None = None) -> Hit:
    """Make a hit of an outcome that is known as far as this."""
    run, path, _ = outcome.origin
    return Hit(outcome, MemoTold(EventKind.MEMO_HIT, reach, "", run, path), written)
