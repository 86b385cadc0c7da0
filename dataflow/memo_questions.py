"""Memo questions: what a firing asks the memo, and the answer that it is given in place of a call (S13.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.fingerprints import Fingerprint
    from dataflow.frames import Frame
    from dataflow.memo_store import StoredMemo
    from dataflow.memo_table import Outcome, ProcessMemo
    from dataflow.plan import Call, PlanNode
    from dataflow.policy import Memo, Reach
    from dataflow.values import Json

__all__ = ["Hit", "Question"]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What a firing asks the memo: whether there is an outcome under this mark in this table."""

    frame: Frame
    node: PlanNode
    call: Call
    memo: Memo
    reach: Reach  # how far it is remembered in this run
    table: ProcessMemo | StoredMemo
    mark: Fingerprint


@dataclass(frozen=True, slots=True, eq=False)
class Hit:
    """An outcome that is known, in the place of what calling the node would return.

    `written` are its outputs as the codec wrote them, where the journal may take them as they are.
    """

    outcome: Outcome
    reach: Reach
    written: Mapping[str, Json] = field(default_factory=dict)
