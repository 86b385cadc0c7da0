"""Write values and events as lines of JSON, for `--json` and `--events`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from dataflow.cli.output import write_line
from dataflow.inspection.json_values import json_value
from dataflow.secrets.known import redacted

if TYPE_CHECKING:
    from typing import TextIO

    from dataflow.core.events import Event

__all__ = ["event_line", "json_line", "write_json"]

#: Characters that control a terminal, and that JSON allows in texts.
_CONTROLS: Final = re.compile("[\x7f-\x9f]")


def json_line(value: object, encoding: str | None) -> str:
    """Serialize a value to a line of JSON that fits the encoding of the stream.

    Secrets are replaced by masks (S12.4).
    """
    is_unicode = (encoding or "").lower().replace("-", "") == "utf8"
    line = json.dumps(redacted(json_value(value)), ensure_ascii=not is_unicode, allow_nan=False)
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


def write_json(out: TextIO | None, value: object) -> bool:
    """Write one object on a line; returns False if the reader has closed the stream."""
    return write_line(out, json_line(value, out.encoding if out is not None else None))


def event_line(event: Event, encoding: str | None) -> str:
    """Serialize an event to a line of JSON."""
    fields = {
        "seq": event.seq,
        "time": event.time.isoformat(),
        "run": event.run,
        "kind": event.kind.value,
        "path": event.path,
        "data": dict(event.data),
    }
    return json_line(fields, encoding)
