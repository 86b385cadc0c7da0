"""Cancelling a run that nobody executes: its record is written, without its flow (S11.5)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from dataflow.core.events import EventKind
from dataflow.core.states import ENDED, NodeState, RunStatus
from dataflow.durable.past import fold
from dataflow.errors import RunTaken
from dataflow.secrets.known import redacted
from dataflow.stores import Batch, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow.durable.past import Past
    from dataflow.stores import Store

__all__ = ["cancel_stored"]


def cancel_stored(store: Store, run: str, reason: str = "cancelled") -> None:
    """Write that a run in a store that has paused, or was interrupted, is cancelled (S11.5).

    Its open asks take no answer any more; resumed, it opens them again. Blocks, as stores do. Raises RunTaken
    if the run is being executed or has ended, StoreError if there is none.
    """
    hold = store.hold(run)
    try:
        past = fold(run, store.records(run), str(store))
        if past.status in ENDED:
            raise RunTaken(str(store), run, f"is {past.status.value}; there is nothing to cancel")
        told = enumerate(_told(past, redacted(reason)), past.seq + 1)
        now = datetime.now(UTC).isoformat()
        records = [
            Record(seq, kind.value, path, json.dumps({**data, "time": now}, ensure_ascii=False))
            for seq, (kind, path, data) in told
        ]
        store.commit(run, Batch(records, status=RunStatus.CANCELLED.value))
    finally:
        hold.release()


def _told(past: Past, reason: str) -> Iterator[tuple[EventKind, str, dict[str, Any]]]:
    """Tell what there is to report: what was open or running ends, what is inside other things first."""
    if past.is_torn:
        yield EventKind.RUN_RESUMED, "", {}  # what alone may follow a record that was cut off
    for id in past.open_asks:
        yield EventKind.ASK_CLOSED, id, {"reason": reason}
    ended = {"state": NodeState.CANCELLED.value, "ports": {}, "metadata": {}, "reason": reason}
    for path, firing in reversed(past.firings.items()):
        if firing.state is None and firing.attempt:
            yield EventKind.NODE_FINISHED, path, ended
    data = {"status": RunStatus.CANCELLED.value, "reason": reason, "elapsed": past.elapsed}
    yield EventKind.RUN_FINISHED, "", data
