"""Problems of conversations: their messages, tool calls and budgets (DF09)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

OVER_BUDGET: Final = Kind(
    "DF0901",
    "does not fit a budget of {budget}: its system text, pinned messages and last turn need {needed}",
    meaning="A conversation cannot be trimmed any further and is still larger than its budget.",
    example="context.trimmed(budget=100)   # the last turn alone has 400",
    cure="Raise the budget, shorten the system text, or pin fewer messages.",
)
