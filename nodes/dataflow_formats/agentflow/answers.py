"""Answers to an approval: whatever is answered comes to a decision and a note."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

__all__ = ["APPROVE", "REJECT", "Decision", "normalised"]

Decision: TypeAlias = Literal["approve", "reject"]
APPROVE: Final = "approve"
REJECT: Final = "reject"


def normalised(answer: Any) -> tuple[Decision, str]:
    """Return decision and note: a text rejects by the word in it, a mapping by its decision."""
    if isinstance(answer, str):
        return (REJECT if REJECT in answer.lower() else APPROVE), ""
    if not isinstance(answer, dict):
        return APPROVE, ""
    decision, note = answer.get("decision"), answer.get("note")
    is_rejected = isinstance(decision, str) and decision.strip().lower() == REJECT
    return (REJECT if is_rejected else APPROVE), note if isinstance(note, str) else ""
