"""The outcomes that the store in memory remembers, as long as its object lives (S13.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataflow.stores.outcomes import MemoUse, OutcomeTable, StoredOutcome, StoredParts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from threading import Lock

__all__ = ["MemoryOutcomes"]


class MemoryOutcomes(OutcomeTable):
    """Remember any number of outcomes. `bring` lets a run have blobs too, under the guard of its store."""

    def __init__(self, guard: Lock, bring: Callable[[str, Mapping[str, bytes]], None]) -> None:
        self.blobs: dict[str, bytes] = {}
        self._guard = guard
        self._bring = bring
        self._known: dict[str, StoredOutcome] = {}  # by key

    def recall(self, key: str, now: datetime, run: str = "") -> StoredOutcome | None:  # noqa: ARG002 - nothing goes
        """Return an outcome, for a run that then has its blobs."""
        with self._guard:
            found = self._known.get(key)
            if found is not None and run:
                self._bring(run, {name: self.blobs[name] for name in found.blobs})
            return found

    def remember(self, outcome: StoredOutcome, blobs: Mapping[str, bytes]) -> bool:
        """Remember an outcome in place of what was under its key."""
        with self._guard:
            self._drop([outcome.key])
            self._known[outcome.key] = outcome
            self.blobs.update(blobs)
            return True

    def newest(self, node_type: str, most: int) -> Sequence[StoredParts]:
        """List what some outcomes of a node type are made of, what was remembered last first."""
        with self._guard:
            found = [one for one in reversed(self._known.values()) if one.type == node_type]
            found.sort(key=lambda one: one.created, reverse=True)
            return [StoredParts(one.key, one.parts, one.created) for one in found[:most]]

    def forget(self, key: str) -> None:
        """Forget one outcome, if it is there."""
        with self._guard:
            self._drop([key])

    def use(self) -> Sequence[MemoUse]:
        """Tell what is remembered by node types."""
        with self._guard:
            by_type: dict[str, list[StoredOutcome]] = {}
            for one in self._known.values():
                by_type.setdefault(one.type, []).append(one)
            return [
                MemoUse(kind, len(ones), sum(map(self._size, ones)), max(one.created for one in ones))
                for kind, ones in sorted(by_type.items())
            ]

    def clear(self, node_type: str | None = None, before: datetime | None = None) -> int:
        """Forget outcomes; returns how many there were."""
        with self._guard:
            keys = [
                one.key
                for one in self._known.values()
                if node_type in (None, one.type) and (before is None or one.created < before)
            ]
            self._drop(keys)
            return len(keys)

    def _drop(self, keys: Iterable[str]) -> None:
        dropped = [one for key in keys if (one := self._known.pop(key, None)) is not None]
        if not any(one.blobs for one in dropped):
            return
        held = {name for one in self._known.values() for name in one.blobs}
        self.blobs = {name: data for name, data in self.blobs.items() if name in held}

    def _size(self, outcome: StoredOutcome) -> int:
        texts = (outcome.key, outcome.type, outcome.parts, outcome.data)
        return sum(map(len, texts)) + sum(len(self.blobs[name]) for name in outcome.blobs)
