"""Convert values to JSON: values of a run in memory, and stored ones without importing a class of the flow.

JSON values are kept; tuples, sets and histories become lists; named tuples, dataclasses and pydantic models
objects of their fields; dicts objects whose keys are strings or the JSON of other keys; enums their value;
secrets their name; dates, times, paths and UUIDs strings. Numbers of other libraries become numbers, and
other values of theirs what their codec shows. Anything else (other objects, bytes, nan, integers beyond
4,000 digits, values nested too deeply) becomes its repr, shortened.
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

from dataflow.base.failure import Interruption, text_of_error
from dataflow.base.history import History
from dataflow.base.scalars import plain_number
from dataflow.core.context import Variables
from dataflow.secrets.foreign import is_secret
from dataflow.secrets.known import redacted
from dataflow.secrets.secret import Secret
from dataflow.values.codecs import kind_named, kind_of
from dataflow.values.forms import SHOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dataflow.stores import Store

__all__ = ["StoredValues", "history_items", "json_value", "shortened_repr"]

MOST_CHARACTERS: Final = 200
MOST_LEVELS: Final = 100
MOST_BITS: Final = 13_000  # Python does not convert integers of more than 4,300 digits
_SHOWN_AS_LISTS: Final = frozenset({"tuple", "set", "frozenset"})


def shortened_repr(value: object, limit: int = MOST_CHARACTERS) -> str:
    """Return the repr of a value, shortened, or a placeholder if the repr fails."""
    if isinstance(value, bytes | bytearray) and len(value) > limit:
        return f"{bytes(value[: limit // 2])!r}... ({len(value)} bytes)"
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return f"<int of {value.bit_length()} bits>"
    try:
        text = repr(value)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a foreign __repr__ may raise anything
        return f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def json_value(value: object, around: tuple[int, ...] = ()) -> Any:
    """Return a value as JSON; never fails.

    `around` are the ids of the containers around the value.
    """
    try:
        return _json_value(value, around)
    except (Exception, SystemExit):  # noqa: BLE001 - a foreign class may raise anything
        return shortened_repr(value)


def _json_value(value: Any, around: tuple[int, ...]) -> Any:
    match value:
        case Enum():
            return json_value(value.value, around)
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
            return _json_of_other(value, around)


def _json_of_other(value: Any, around: tuple[int, ...]) -> Any:
    number = plain_number(value)
    if number is not None and type(number) is not complex:
        return json_value(number, around)
    if is_secret(type(value)):
        return str(value)  # asterisks
    if id(value) in around or len(around) >= MOST_LEVELS:
        return shortened_repr(value)
    inside = (*around, id(value))
    if isinstance(value, set | frozenset):  # in an order that does not depend on the hash seed
        return sorted((json_value(part, inside) for part in value), key=json.dumps)
    if isinstance(value, list | History) or (isinstance(value, tuple) and not hasattr(value, "_fields")):
        return [json_value(part, inside) for part in value]
    fields = _fields(value)
    if fields is None:
        kind = kind_of(type(value))
        if kind is None or kind.shown is None:
            return shortened_repr(value)
        return json_value(kind.shown(value), inside)
    return _object([(json_value(name, inside), json_value(part, inside)) for name, part in fields.items()])


def _object(pairs: Sequence[tuple[Any, Any]]) -> Any:
    """Return an object with these keys, others than strings as JSON; the pairs if two keys are alike."""
    found = {
        key if isinstance(key, str) else json.dumps(key, ensure_ascii=False): part for key, part in pairs
    }
    return found if len(found) == len(pairs) else [[key, part] for key, part in pairs]


def _fields(value: Any) -> Mapping[str, Any] | None:
    """Return the fields of an object in JSON, or None if it has no such form."""
    if isinstance(value, dict | Variables):
        return value
    if isinstance(value, tuple):
        names = value._fields  # type: ignore[attr-defined]  # a named tuple
        return dict(zip(names, value, strict=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, BaseModel):
        return {name: getattr(value, name) for name in type(value).model_fields}
    return None


class StoredValues:
    """Converts the stored values of a run to JSON, fetching parts that are stored outside its journal."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def readable(self, data: Any) -> Any:
        """Return a stored value as JSON; never fails."""
        try:
            return redacted(json_value(self._plain(data)))
        except (KeyboardInterrupt, Interruption):
            raise
        except BaseException as error:  # noqa: BLE001 - codecs and their libraries may raise anything
            return f"(cannot be read: {redacted(text_of_error(error))})"

    def _plain(self, data: Any) -> Any:
        if isinstance(data, list):
            return [self._plain(item) for item in data]
        if not isinstance(data, dict):
            return data
        if "$" not in data:
            return {key.removeprefix("$"): self._plain(item) for key, item in data.items()}
        if SHOWN in data:
            return self._plain(data[SHOWN])
        return self._marked(data["$"], data.get("v"))

    def _marked(self, name: str, value: Any) -> Any:
        match name:
            case "text":
                return self._store.blob(value).decode()
            case "blob":
                return self._store.blob(value)
            case "secret":
                return self._plain(value[0])
            case "history":
                return [self._plain(item) for item in history_items(value, self._store.blob)]
            case "dict":
                pairs = [(self._plain(key), self._plain(item)) for key, item in value]
                return _object([(json_value(key), item) for key, item in pairs])
            case _ if name in _SHOWN_AS_LISTS:
                return self._plain(value)
            case _ if (kind := kind_named(name)) is not None:
                return kind.together(self._plain(value))
            case _:
                return self._plain(value)  # the fields of a class


def history_items(digest: str | None, blob: Callable[[str], bytes]) -> list[Any]:
    """Return the stored items of a history, which is stored as a chain of parts."""
    parts: list[list[Any]] = []
    while digest is not None:
        part = json.loads(blob(digest))
        parts.append(part["items"])
        digest = part["before"]
    return [item for items in reversed(parts) for item in items]
