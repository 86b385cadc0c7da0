"""The conformance tests of stores, to be subclassed by authors of a store (S11.2, S12)."""

from __future__ import annotations

from dataflow.testing.journals import BlobCases, JournalCases, RunCases
from dataflow.testing.outcomes import OutcomeCases
from dataflow.testing.ownership import InboxCases, OwnerCases
from dataflow.testing.processes import ProcessCases

__all__ = ["OutcomeConformance", "ProcessConformance", "StoreConformance"]


class StoreConformance(JournalCases, RunCases, BlobCases, InboxCases, OwnerCases):
    """Tests that every store passes.

    Subclass it in a test module and define `make_store`. pytest passes an empty folder to each test.
    """


class OutcomeConformance(OutcomeCases):
    """Tests for a store that caches outcomes of firings; see `StoreConformance`."""


class ProcessConformance(ProcessCases):
    """Tests for a store that several processes use.

    The other processes import your class and call its `make_store` with the same folder: define it at the top
    level of an importable module, and return a store on the data that the others wrote.
    """
