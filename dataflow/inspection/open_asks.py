"""Open asks as data: those of a store, of an event, and of a result."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from dataflow.core.events import EventKind
from dataflow.core.inputs import BY_DEFAULT
from dataflow.inspection.json_values import StoredValues, json_value
from dataflow.secrets.known import redacted
from dataflow.stores.store import ASK_ENDED, ASK_KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.core.events import Event
    from dataflow.core.inputs import Ask
    from dataflow.stores import Record, Store, StoredAsk

__all__ = ["OpenAsk", "asks_of", "ended_asks", "of_event", "of_result", "of_store"]


@dataclass(frozen=True, slots=True)
class OpenAsk:
    """An open ask. `show` is a JSON value."""

    run: str
    id: str
    prompt: str
    schema: Mapping[str, Any]
    show: Any
    expires: datetime | None
    is_answered: bool = False

    @property
    def has_expired(self) -> bool:
        """Whether it no longer accepts an answer because its time is over (S11.2)."""
        return self.expires is not None and self.expires <= datetime.now(UTC)

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object, as in `asks` (S20)."""
        return {
            "id": self.id,
            "prompt": self.prompt,
            "schema": dict(self.schema),
            "show": self.show,
            "expires": None if self.expires is None else self.expires.isoformat(),
        }


def of_result(run: str, ask: Ask) -> OpenAsk:
    """Return an ask of a run that has paused in this process."""
    return OpenAsk(run, ask.id, redacted(ask.prompt), ask.schema, redacted(json_value(ask.show)), ask.expires)


def of_event(event: Event) -> OpenAsk:
    """Return the ask that an event reports as opened."""
    data = event.data
    expires = None if data["expires"] is None else event.time + timedelta(seconds=data["expires"])
    show = redacted(json_value(data["show"]))
    return OpenAsk(event.run, event.path, redacted(data["prompt"]), data["schema"], show, expires)


def of_store(ask: StoredAsk, stored: StoredValues) -> OpenAsk:
    """Return an ask as recorded in the journal of its run."""
    data = json.loads(ask.data)
    opened, seconds = datetime.fromisoformat(data["time"]), data["expires"]
    expires = None if seconds is None else opened + timedelta(seconds=seconds)
    prompt, schema = stored.readable(data["prompt"]), stored.readable(data["schema"])
    return OpenAsk(
        ask.run, ask.id, prompt, schema, stored.readable(data["show"]), expires, is_answered=ask.is_answered
    )


def ended_asks(store: Store, run: str) -> dict[str, str]:
    """Return the asks of a run that no longer accept an answer, with the kind of their last record.

    An ask that has expired counts as closed, also one that took its default. Reads the whole journal; raises
    StoreError.
    """
    last = {record.path: record for record in store.records(run) if record.kind in ASK_KINDS}
    return {
        id: EventKind.ASK_CLOSED if _has_taken_default(record) else record.kind
        for id, record in last.items()
        if record.kind in ASK_ENDED
    }


def _has_taken_default(record: Record) -> bool:
    try:
        return record.kind == EventKind.ASK_ANSWERED and json.loads(record.data)["by"] == BY_DEFAULT
    except (ValueError, KeyError):  # the record was cut off
        return False


def asks_of(store: Store, run: str | None = None) -> list[OpenAsk]:
    """List the open asks of all runs in a store, or of one; raises StoreError."""
    stored = StoredValues(store)
    return [of_store(ask, stored) for ask in store.asks() if run in (None, ask.run)]
