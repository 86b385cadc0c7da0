"""The protocol of tables of outcomes, in which stores remember what firings came to, across runs (S13.1).

As those of `Store` its methods block, and what fails raises StoreError and changes nothing. Times are given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

__all__ = ["MemoUse", "OutcomeTable", "StoredOutcome", "StoredParts"]


@dataclass(frozen=True, slots=True)
class StoredOutcome:
    """An outcome as it is stored: JSON texts, and the names of the blobs that these refer to."""

    key: str  # the fingerprint
    type: str  # the id of the node type
    parts: str  # what the fingerprint is made of
    data: str
    created: datetime  # UTC
    expires: datetime | None = None  # UTC; from then on nobody needs it
    blobs: Sequence[str] = ()  # by SHA-256 in hex


@dataclass(frozen=True, slots=True)
class StoredParts:
    """What the fingerprint of a stored outcome is made of."""

    key: str
    parts: str
    created: datetime  # UTC


@dataclass(frozen=True, slots=True)
class MemoUse:
    """What the outcomes of one node type take; `size` in bytes, where a blob counts for each that has it."""

    type: str
    entries: int
    size: int
    newest: datetime  # when the newest was remembered, UTC


class OutcomeTable(ABC):
    """Where a store remembers outcomes; many runs, threads and event loops may use one object at once.

    The blobs of outcomes are among those of the store: `Store.blob` gives them, and each goes with the last
    run or outcome that has it.
    """

    @abstractmethod
    def recall(self, key: str, now: datetime, run: str = "") -> StoredOutcome | None:
        """Return an outcome that is remembered, and note that it was of use.

        With the id of a run of the store its blobs are from then on also those of that run, as if one of its
        batches had brought them.
        """

    @abstractmethod
    def remember(self, outcome: StoredOutcome, blobs: Mapping[str, bytes]) -> bool:
        """Remember an outcome in place of what was under its key, with its blobs, durable when this returns.

        What was not of use the longest goes, as far as the store has to make room. Returns False, and
        changes nothing, if the outcome alone is larger than all that may be remembered.
        """

    @abstractmethod
    def newest(self, node_type: str, most: int) -> Sequence[StoredParts]:
        """List what some outcomes of a node type are made of, what was remembered last first."""

    @abstractmethod
    def forget(self, key: str) -> None:
        """Forget one outcome, if it is there."""

    @abstractmethod
    def use(self) -> Sequence[MemoUse]:
        """Tell what is remembered by node types, in their order."""

    @abstractmethod
    def clear(self, node_type: str | None = None, before: datetime | None = None) -> int:
        """Forget the outcomes of a node type, or all, that were remembered before a time, or at any.

        Returns how many there were.
        """
