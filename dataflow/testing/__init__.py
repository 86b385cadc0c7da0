"""Tests for what others build on the protocols of the engine; they need pytest, or what runs its classes."""

from __future__ import annotations

from dataflow.testing.stores import ProcessConformance, StoreConformance

__all__ = ["ProcessConformance", "StoreConformance"]
