"""Values as JSON can carry them, for `--json` and `--events`.

JSON values stay as they are; tuples, sets and histories become lists; named tuples, dataclasses and pydantic
models objects of their fields; enums their value; secrets their name; dates, times, paths and UUIDs text.
Anything else (other objects, bytes, nan, dicts with other keys, integers beyond 4,000 digits, what is nested
too deeply) is shown as the text of its repr, shortened.
"""

from __future__ import annotations

import dataclasses
import json
import math
from datetime import date, time
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pydantic import BaseModel

from dataflow.cli.streams import write
from dataflow.context import Variables
from dataflow.history import History
from dataflow.redaction import redacted
from dataflow.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from dataflow.events import Event

__all__ = ["carried", "event_line", "json_line", "shown", "write_json"]

MOST_CHARACTERS: Final = 200
MOST_LEVELS: Final = 100
MOST_BITS: Final = 13_000  # Python refuses to write integers of more than 4,300 digits


def shown(value: object, limit: int = MOST_CHARACTERS) -> str:
    """Return the repr of a value, shortened, or a text in its place where the value has none."""
    if isinstance(value, bytes | bytearray) and len(value) > limit:
        return f"{bytes(value[: limit // 2])!r}... ({len(value)} bytes)"
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return f"<int of {value.bit_length()} bits>"
    try:
        text = repr(value)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - somebody's __repr__ may raise anything
        return f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def carried(value: object, around: tuple[int, ...] = ()) -> Any:
    """Return what JSON carries in the place of a value; never fails.

    `around` are the ids of the containers that the value stands in.
    """
    try:
        return _carried(value, around)
    except (Exception, SystemExit):  # noqa: BLE001 - a value may be of somebody's class, whose methods may raise anything
        return shown(value)


def _carried(value: Any, around: tuple[int, ...]) -> Any:
    match value:
        case Enum():
            return carried(value.value, around)
        case None | bool() | str():
            return value
        case int() if value.bit_length() <= MOST_BITS:
            return int(value)
        case float() if math.isfinite(value):
            return float(value)
        case date() | time():
            return value.isoformat()
        case PurePath() | UUID() | Decimal():
            return str(value)
        case Secret():
            return value.name
        case _:
            pass
    if id(value) in around or len(around) >= MOST_LEVELS:
        return shown(value)
    inside = (*around, id(value))
    if isinstance(value, set | frozenset):  # in an order that no hash seed changes
        return sorted((carried(part, inside) for part in value), key=json.dumps)
    if isinstance(value, list | History) or (isinstance(value, tuple) and not hasattr(value, "_fields")):
        return [carried(part, inside) for part in value]
    fields = _fields(value)
    if fields is None:
        return shown(value)
    return {name: carried(part, inside) for name, part in fields.items()}


def _fields(value: Any) -> Mapping[str, Any] | None:
    """Return what makes up an object in JSON, or None if it has no such form."""
    if isinstance(value, dict | Variables):
        return value if all(isinstance(key, str) for key in value) else None
    if isinstance(value, tuple):
        names = value._fields  # type: ignore[attr-defined]  # a named tuple
        return dict(zip(names, value, strict=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, BaseModel):
        return {name: getattr(value, name) for name in type(value).model_fields}
    return None


def json_line(value: object, encoding: str | None) -> str:
    """Write what JSON carries in the place of a value, on a line that fits the encoding of where it goes.

    Marks stand in place of secrets (S12.4).
    """
    is_unicode = (encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(redacted(carried(value)), ensure_ascii=not is_unicode, allow_nan=False)


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
