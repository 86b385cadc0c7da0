"""Delete old runs of a store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dataflow.errors import RunTaken, StoreError

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
    left out. Raises StoreError.
    """
    before = (datetime.now(UTC) if now is None else now) - older_than
    found = [run.id for run in store.runs() if run.status in statuses and run.updated < before]
    return [run for run in found if _delete(store, run)]


def _delete(store: Store, run: str) -> bool:
    try:
        store.delete(run)
    except RunTaken:
        return False
    except StoreError:
        if any(there.id == run for there in store.runs()):
            raise
        return False  # it was deleted meanwhile
    return True
