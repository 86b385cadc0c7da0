# The public names, and where each of them is; imported when it is first used.

from .outcomes import MemoUse, OutcomeTable, StoredOutcome, StoredParts
from .store import Answer, Batch, Hold, Record, Store, StoredAsk, StoredRun

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
