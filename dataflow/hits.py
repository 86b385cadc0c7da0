"""Hits: outcomes that are known, so that a firing is not called (S13.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.memo_table import Outcome
    from dataflow.policy import Reach
    from dataflow.values import Json

__all__ = ["Hit"]


class Hit(NamedTuple):
    """An outcome that is known, in the place of what calling the node would return.

    `written` are its outputs as the codec wrote them, where the journal may take them as they are.
    """

    outcome: Outcome
    reach: Reach
    written: Mapping[str, Json] | None = None
