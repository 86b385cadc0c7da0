"""Hits: outcomes that are known, so that a firing is not called (S13.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dataflow.events import EventKind
from dataflow.memo_telling import MemoTold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.memo_table import Outcome
    from dataflow.policy import Reach
    from dataflow.values import Json

__all__ = ["Hit", "hit_of"]


class Hit(NamedTuple):
    """An outcome that is known, in the place of what calling the node would return; and what is told of it.

    `written` are its outputs as the codec wrote them, where the journal may take them as they are.
    """

    outcome: Outcome
    told: MemoTold
    written: Mapping[str, Json] | None = None


def hit_of(outcome: Outcome, reach: Reach, written: Mapping[str, Json] | None = None) -> Hit:
    """Make a hit of an outcome that is known as far as this."""
    run, path, _ = outcome.origin
    return Hit(outcome, MemoTold(EventKind.MEMO_HIT, reach, "", run, path), written)
