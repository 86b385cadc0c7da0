"""Constants in documents: what JSON carries, and how values of other types are written as JSON."""

from __future__ import annotations

from typing import Any, Final

from pydantic_core import PydanticSerializationError

from dataflow.errors import ValueMismatch
from dataflow.formats.tree import MOST_DIGITS, MOST_LEVELS, TOO_LARGE, has_surrogate
from dataflow.types.mismatches import adapter_of, step_into
from dataflow.types.validation import check_json

__all__ = ["as_json", "constant_as_json"]

MOST_SHOWN: Final = 60


def as_json(value: object) -> Any:
    """Copy a value that JSON can carry; raises ValueMismatch with the place of what it cannot.

    Subclasses and tuples are refused, since reading gives plain values and lists back.
    """
    return _copy(value, "", MOST_LEVELS)


def constant_as_json(value: object, expected: object) -> Any:
    """Write a value for a port of a type: by the JSON rules of the type if it is no plain JSON.

    Raises ValueMismatch if reading would not give the same value back (S1.7).
    """
    try:
        return as_json(value)
    except ValueMismatch:
        written = _by_type(value, expected)
        if not written:
            raise
        return written[0]


def _by_type(value: object, expected: object) -> list[Any]:
    """Write a value by its type; nothing if it does not come back the same."""
    adapter = adapter_of(expected)
    if adapter is None:
        return []
    try:
        written = as_json(adapter.dump_python(value, mode="json", warnings="error"))
        restored = check_json(written, expected)
        same = type(restored) is type(value) and bool(restored == value)
    except (PydanticSerializationError, ValueMismatch):
        return []
    except Exception:  # noqa: BLE001 - the value's own class compares and is turned into JSON
        return []
    return [written] if same else []


def _copy(value: Any, place: str, levels: int) -> Any:
    kind = type(value)
    if value is None or kind in (bool, float):
        return value
    if kind is int:
        if abs(value) >= TOO_LARGE:
            raise ValueMismatch("a longer one", f"a number of at most {MOST_DIGITS} digits", place)
        return value
    if kind is str:
        _check_text(value, place)
        return value
    if kind not in (list, dict):
        raise ValueMismatch(_described(value), "a JSON value", place)
    if not levels:
        raise ValueMismatch("more", f"at most {MOST_LEVELS} levels of lists and mappings", "")
    if kind is list:
        return [_copy(item, f"{place}[{index}]", levels - 1) for index, item in enumerate(value)]
    for key in value:
        if type(key) is not str:
            raise ValueMismatch(_described(key), "text for a key", place)
        _check_text(key, place)
    return {key: _copy(item, place + step_into(key), levels - 1) for key, item in value.items()}


def _check_text(text: str, place: str) -> None:
    if has_surrogate(text):
        raise ValueMismatch("half of a surrogate pair", "text", place)


def _described(value: object) -> str:
    """Name the class, and show the value if it is short."""
    kind = type(value).__name__
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a foreign repr may raise anything, and a message is still due
        return kind
    return f"{kind} {text}" if len(text) <= MOST_SHOWN and " at 0x" not in text else kind
