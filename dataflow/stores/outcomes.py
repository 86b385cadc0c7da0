"""The protocol of outcome tables: the cache in which stores keep outcomes of firings across runs (S13.1).

The methods block, as those of `Store`; one that fails raises StoreError and changes nothing. They take
times as arguments.
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
    """An outcome as it is stored: JSON strings, and the names of the blobs that these refer to."""

    key: str  # the cache key
    type: str  # the id of the node type
    parts: str  # what the cache key is computed from, as JSON
    data: str
    created: datetime  # UTC
    expires: datetime | None = None  # UTC; from then on it may be deleted
    blobs: Sequence[str] = ()  # by SHA-256 in hex


@dataclass(frozen=True, slots=True)
class StoredParts:
    """The parts that the cache key of a stored outcome is computed from."""

    key: str
    parts: str
    created: datetime  # UTC


@dataclass(frozen=True, slots=True)
class MemoUse:
    """The outcomes of one node type: `size` in bytes, where a blob counts once for each outcome."""

    type: str
    entries: int
    size: int
    newest: datetime  # when the newest was stored, UTC


class OutcomeTable(ABC):
    """The cached outcomes of a store; runs, threads and event loops may use one object concurrently.

    The blobs of outcomes are among those of the store: `Store.blob` returns them, and each is deleted with
    the last run or outcome that references it.
    """

    @abstractmethod
    def recall(self, key: str, now: datetime, run: str = "") -> StoredOutcome | None:
        """Return the outcome under a key, and record that it was used.

        With the id of a run of the store, that run references the blobs of the outcome from then on, as if
        one of its batches had written them.
        """

    @abstractmethod
    def remember(self, outcome: StoredOutcome, blobs: Mapping[str, bytes]) -> bool:
        """Store an outcome with its blobs, in place of the one under its key; durable when this returns.

        Where the size limit requires it, the least recently used outcomes are deleted. Returns False, and
        changes nothing, if the outcome alone exceeds the limit.
        """

    @abstractmethod
    def newest(self, node_type: str, most: int) -> Sequence[StoredParts]:
        """List the parts of the cache keys of at most `most` outcomes of a node type, the newest first."""

    @abstractmethod
    def forget(self, key: str) -> None:
        """Delete one outcome if it exists."""

    @abstractmethod
    def use(self) -> Sequence[MemoUse]:
        """List the size of the cached outcomes of each node type, sorted by type."""

    @abstractmethod
    def clear(self, node_type: str | None = None, before: datetime | None = None) -> int:
        """Delete the outcomes of a node type, or of all, that were stored before a time, or at any time.

        Returns the number of deleted outcomes.
        """
