"""Delete old runs of a store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import timedelta

    from dataflow.stores.store import Store

__all__ = ["prune"]


def prune(
    store: Store, older_than: timedelta, statuses: Collection[str], *, now: datetime | None = None
) -> list[str]:
    """Delete the runs of the given statuses that were not written to for a time; return their ids.

    `older_than` counts from the last write; `now` is for tests. A run that is taken or deleted meanwhile is
    left out. An SQLite file gets smaller by what was deleted. Raises StoreError.
    """
    before = (datetime.now(UTC) if now is None else now) - older_than
    found = [run.id for run in store.runs() if run.status in statuses and run.updated < before]
    return list(store.delete_all(found))
