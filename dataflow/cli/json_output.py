"""Values as lines of JSON, for `--json` and `--events`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dataflow.cli.output import write
from dataflow.inspection.json_values import json_value
from dataflow.secrets.known import redacted

if TYPE_CHECKING:
    from typing import TextIO

    from dataflow.core.events import Event

__all__ = ["event_line", "json_line", "write_json"]


def json_line(value: object, encoding: str | None) -> str:
    """Write what JSON carries in the place of a value, on a line that fits the encoding of where it goes.

    Marks stand in place of secrets (S12.4).
    """
    is_unicode = (encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(redacted(json_value(value)), ensure_ascii=not is_unicode, allow_nan=False)


def write_json(out: TextIO | None, value: object) -> bool:
    """Write one object on a line; returns False if nobody is there any more to read it."""
    return write(out, json_line(value, out.encoding if out is not None else None))


def event_line(event: Event, encoding: str | None) -> str:
    """Write an event as one line of JSON."""
    fields = {
        "seq": event.seq,
        "time": event.time.isoformat(),
        "run": event.run,
        "kind": event.kind.value,
        "path": event.path,
        "data": dict(event.data),
    }
    return json_line(fields, encoding)
