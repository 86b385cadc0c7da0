"""The store in memory."""

from __future__ import annotations

from pathlib import Path

from dataflow.stores import Store
from dataflow.testing import OutcomeConformance, StoreConformance


class TestMemory(StoreConformance):
    """It passes what every store passes."""

    def make_store(self, place: Path) -> Store:
        return Store.memory()


class TestMemoryOutcomes(OutcomeConformance):
    """It remembers as every store does that remembers."""

    def make_store(self, place: Path) -> Store:
        return Store.memory()
