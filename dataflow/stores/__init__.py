"""Stores keep runs, journals and cached outcomes: the protocol, and the built-in stores."""

from __future__ import annotations

from lazy_loader import attach as _attach

__getattr__, __dir__, __all__ = _attach(
    __name__,
    submod_attrs={
        "outcomes": ["MemoUse", "OutcomeTable", "StoredOutcome", "StoredParts"],
        "store": ["Answer", "Batch", "Hold", "Record", "Store", "StoredAsk", "StoredRun"],
    },
)
