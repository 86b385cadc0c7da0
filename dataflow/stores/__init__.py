"""Where runs live: the protocol of stores, and the stores that come with the engine (S12, S20)."""

from __future__ import annotations

from dataflow.stores.outcomes import MemoUse, OutcomeTable, StoredOutcome, StoredParts
from dataflow.stores.store import Answer, Batch, Hold, Record, Store, StoredAsk, StoredRun

__all__ = [
    "Answer",
    "Batch",
    "Hold",
    "MemoUse",
    "OutcomeTable",
    "Record",
    "Store",
    "StoredAsk",
    "StoredOutcome",
    "StoredParts",
    "StoredRun",
]
