"""Tests for what others build on the protocols of the engine; they need pytest, or what runs its classes."""

from __future__ import annotations

from dataflow.testing.stores import OutcomeConformance, ProcessConformance, StoreConformance

__all__ = ["OutcomeConformance", "ProcessConformance", "StoreConformance"]
