"""The tests that every store passes, for those who write one (S11.2, S12)."""

from __future__ import annotations

from dataflow.testing.journals import BlobCases, JournalCases, RunCases
from dataflow.testing.outcomes import OutcomeCases
from dataflow.testing.ownership import InboxCases, OwnerCases
from dataflow.testing.processes import ProcessCases

__all__ = ["OutcomeConformance", "ProcessConformance", "StoreConformance"]


class StoreConformance(JournalCases, RunCases, BlobCases, InboxCases, OwnerCases):
    """What holds for every store.

    Make a class of your own of it in a module of tests, with `make_store`. pytest gives each test an empty
    folder.
    """


class OutcomeConformance(OutcomeCases):
    """What holds for a store that remembers outcomes of firings (S13.1); see `StoreConformance`."""


class ProcessConformance(ProcessCases):
    """What holds for a store that several processes use.

    The other processes import your class and call its `make_store` with the same folder: it has to stand at
    the top of a module that can be imported, and give a store on what the others wrote.
    """
