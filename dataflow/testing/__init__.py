"""Tests for what others build on the protocols of the engine; they need pytest, or what runs its classes."""

from __future__ import annotations

from lazy_loader import attach as _attach

__getattr__, __dir__, __all__ = _attach(
    __name__,
    submod_attrs={"stores": ["OutcomeConformance", "ProcessConformance", "StoreConformance"]},
)
