"""Conformance tests for implementations of the protocols of the engine; they need pytest."""

from __future__ import annotations

from lazy_loader import attach as _attach

__getattr__, __dir__, __all__ = _attach(
    __name__,
    submod_attrs={"stores": ["OutcomeConformance", "ProcessConformance", "StoreConformance"]},
)
