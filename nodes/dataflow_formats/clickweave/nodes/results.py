"""What the answer of a tool comes to: a value, and the variables that it sets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Matches", "matches_in", "value_of", "variables_of"]

_DECODER: Final = json.JSONDecoder()


def value_of(text: str) -> Any:
    """Read an answer as JSON, else as the text that it is; an empty one is null."""
    if not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


class Matches(NamedTuple):
    """What `find_text` has found, and the elements that it names where it has found nothing."""

    found: list[Any]
    available: list[str]


def matches_in(text: str) -> Matches:
    """Read an answer of `find_text`: a list, and behind an empty one an object that names elements."""
    found: list[Any] = []
    available: list[str] = []
    for value in _values_in(text):
        if isinstance(value, list):
            found += value
        elif isinstance(value, dict):
            named = value.get("available_elements")
            if isinstance(named, list):
                available += filter(None, map(_name_of, named))
            elif "x" in value and "y" in value:
                found.append(value)
    return Matches(found, available)


def _values_in(text: str) -> Iterable[Any]:
    """Read JSON values that stand one behind the other."""
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        yield value


def _name_of(element: Any) -> str:
    if isinstance(element, dict):
        element = next((element[key] for key in ("name", "text", "title") if key in element), "")
    return element if isinstance(element, str) else ""


def variables_of(prefix: str, value: Any, alias: str = "") -> Mapping[str, Any]:
    """Return the variables that a result sets, in the order in which they are set."""
    named: dict[str, Any] = {"success": True}
    match value:
        case dict():
            named |= {**value, "result": value}
        case list():
            first = value[0] if value and isinstance(value[0], dict) else {}
            named |= {"found": bool(value), "count": len(value), **first}
            named |= {alias: value} if alias else {}
            named["result"] = value
        case None:
            named["result"] = ""
        case _:
            named["result"] = value
    return {f"{prefix}.{key}": one for key, one in named.items()}
