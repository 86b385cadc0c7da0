"""Compare stored values: find the first difference of two values, and write it (S12.3, S13.6). Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.wording import shortened, visible
from dataflow.inspection.json_values import history_items
from dataflow.values.kinds import BY_NAME
from dataflow.values.refusals import step_into

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["are_alike", "expanded", "first_difference", "first_message", "shown"]

#: The stored class name of a context, and the field with its messages.
CONTEXT: Final = "dataflow:ExecutionContext"
HISTORY: Final = "message_history"
#: Its fields that begin with the id of a run.
ID: Final = "context_id"
SESSION: Final = "session_id"
_RUN: Final = re.compile(r"\A\d{8}T\d{6}Z-[0-9a-f]{8}/")
#: The number of characters shown of a value, and before the first difference.
MOST_SHOWN: Final = 60
AROUND: Final = 12


@dataclass(frozen=True, slots=True)
class Place:
    """The first difference of two values: its path inside them, and the value of each there."""

    where: str
    first: Any
    second: Any


@dataclass(frozen=True, slots=True)
class MessageAt:
    """The first message that differs: its number, and the message of each side, None if it has none."""

    number: int
    first: Any
    second: Any


def expanded(stored: Any, blob: Callable[[str], bytes]) -> Any:
    """Return a stored value with its separately stored parts, and without the run id in a context."""
    if isinstance(stored, list):
        return [expanded(item, blob) for item in stored]
    if not isinstance(stored, dict):
        return stored
    match stored.get("$"):
        case "text":
            return blob(stored["v"]).decode()
        case "history":
            return {"$": "history", "v": [expanded(item, blob) for item in history_items(stored["v"], blob)]}
        case _:
            found = {key: expanded(part, blob) for key, part in stored.items()}
            if _is_context(stored):
                found["v"] |= {name: _RUN.sub("", found["v"][name]) for name in (ID, SESSION)}
            return found


def are_alike(first: Any, second: Any) -> bool:
    """Return whether two stored values are equal: types count, the order of keys does not (S13.2)."""
    return _as_text(first) == _as_text(second)


def _as_text(stored: Any) -> str:
    return json.dumps(_sorted(stored), sort_keys=True)


def _sorted(stored: Any) -> Any:
    if isinstance(stored, list):
        return [_sorted(item) for item in stored]
    if not isinstance(stored, dict):
        return stored
    found = {key: _sorted(part) for key, part in stored.items()}
    if stored.get("$") == "dict":
        found["v"] = sorted(found["v"], key=json.dumps)
    return found


def first_difference(first: Any, second: Any) -> Place:
    """Find the first difference of two stored values, as deep as both have the same structure."""
    where = ""
    while True:
        steps = _steps(first, second)
        if steps is None:
            return Place(where, first, second)
        found = next((step for step in steps if not are_alike(step[1], step[2])), None)
        if found is None:
            return Place(where, first, second)
        step, first, second = found
        where += step


def _steps(first: Any, second: Any) -> list[tuple[str, Any, Any]] | None:
    """List the corresponding parts of two values; None if they do not have the same structure."""
    if isinstance(first, list) and isinstance(second, list):
        if len(first) != len(second):
            return None
        return [(f"[{place}]", *pair) for place, pair in enumerate(zip(first, second, strict=True))]
    if not isinstance(first, dict) or not isinstance(second, dict) or first.keys() != second.keys():
        return None
    if first.get("$") != second.get("$"):
        return None
    if "$" not in first:
        return [(step_into(_key(key)), first[key], second[key]) for key in first]
    left, right = first["v"], second["v"]
    if first["$"] in ("tuple", "history"):
        return [("", left, right)]
    is_of_class = ":" in first["$"] and isinstance(left, dict) and isinstance(right, dict)
    return [(f".{name}", left[name], right[name]) for name in left if name in right] if is_of_class else None


def _key(key: str) -> str:
    return key[1:] if key[:1] == "$" else key


def first_message(first: Any, second: Any) -> MessageAt | None:
    """Find the first message that differs in two contexts; None if no message differs."""
    if not (_is_context(first) and _is_context(second)):
        return None
    messages = [[message["v"] for message in one["v"][HISTORY]["v"]] for one in (first, second)]
    for number in range(max(map(len, messages))):
        left, right = (some[number] if number < len(some) else None for some in messages)
        if not are_alike(left, right):
            return MessageAt(number, left, right)
    return None


def _is_context(stored: Any) -> bool:
    return isinstance(stored, dict) and stored.get("$") == CONTEXT and isinstance(stored["v"], dict)


def shown(first: Any, second: Any) -> tuple[str, str]:
    """Write two values that differ for a reader, shortened to the part that differs."""
    first, second = _readable(first), _readable(second)
    if isinstance(first, str) and isinstance(second, str):
        start = next(
            (at for at, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]),
            min(len(first), len(second)),
        )
        begin = max(0, start - AROUND) if max(len(first), len(second)) > MOST_SHOWN else 0
        return _cut(first, begin), _cut(second, begin)
    return _text(first), _text(second)


def _cut(text: str, begin: int) -> str:
    """Write a string from an index on, shortened to the maximum length."""
    cut = text[begin : begin + MOST_SHOWN]
    left, right = "..." if begin else "", "..." if begin + MOST_SHOWN < len(text) else ""
    return f"{left}{visible(json.dumps(cut, ensure_ascii=False))}{right}"


def _text(value: Any) -> str:
    return shortened(visible(json.dumps(value, ensure_ascii=False)), MOST_SHOWN)


def _readable(stored: Any) -> Any:
    """Return a stored value without the tags of the codec: values that JSON lacks are strings or lists."""
    if isinstance(stored, list):
        return [_readable(item) for item in stored]
    if not isinstance(stored, dict):
        return stored
    if "$" in stored:
        return _unmarked(stored["$"], stored["v"])
    return {_key(key): _readable(part) for key, part in stored.items()}


def _unmarked(name: str, stored: Any) -> Any:
    match name:
        case "secret":
            return _readable(stored[0])
        case "dict":
            pairs = [(_readable(key), _readable(part)) for key, part in stored]
            return {key if isinstance(key, str) else json.dumps(key): part for key, part in pairs}
        case "str" | "float":
            return BY_NAME[name].together(stored)
        case "bytes":
            return repr(BY_NAME[name].together(stored))
        case "timedelta":
            return str(BY_NAME[name].together(stored))
        case _:  # dates and the like are stored as strings, an object as its fields
            return _readable(stored)
