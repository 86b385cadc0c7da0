"""Serialize constants and configs in native documents."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NewType, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from dataflow.core.functions import is_hidden, name_of_function
from dataflow.core.nodetype import NodeType
from dataflow.core.ports import MISSING
from dataflow.core.signature import qualified_id
from dataflow.diagnostics.documents import (
    FUNCTION_HIDDEN,
    FUNCTION_UNNAMED,
    VALUE_NOT_RESTORED,
    VALUE_UNWRITABLE,
)
from dataflow.errors import ValueMismatch
from dataflow.formats.tree import MOST_DIGITS, MOST_LEVELS, TOO_LARGE, has_surrogate
from dataflow.types.agreement import agrees
from dataflow.types.mismatches import adapter_of, step_into
from dataflow.types.validation import check_json, json_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataflow.core.wiring import PlacedNode
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = ["as_json", "constant_as_json", "unnamed", "unwritable", "with_found_paths", "write_config"]

MOST_SHOWN: Final = 60
#: The message of pydantic for an object that it cannot serialize.
_UNKNOWN: Final = re.compile(r"Unable to serialize unknown type: <class '(?:.*\.)?(\w+)'>")


def as_json(value: object) -> Any:
    """Copy a JSON value; raises ValueMismatch with the location of a value that JSON does not have.

    Subclasses and tuples are refused, since reading returns plain values and lists.
    """
    return _copy(value, "", MOST_LEVELS)


def constant_as_json(value: object, expected: object) -> Any:
    """Write a value for a port of a type: by the JSON rules of the type if it is not plain JSON.

    Raises ValueMismatch if reading would not return an equal value (S1.7).
    """
    try:
        return as_json(value)
    except ValueMismatch:
        written = _by_type(value, expected)
        if not written:
            raise
        return written[0]


def _by_type(value: object, expected: object) -> list[Any]:
    """Write a value by its type; return an empty list if it would not be read back equal."""
    adapter = adapter_of(expected)
    if adapter is None:
        return []
    try:
        written = as_json(adapter.dump_python(value, mode="json", warnings="error"))
        restored = check_json(written, expected)
        same = type(restored) is type(value) and bool(restored == value)
    except (PydanticSerializationError, ValueMismatch):
        return []
    except Exception:  # noqa: BLE001 - the class of the value may raise anything
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
            raise ValueMismatch(_described(key), "a string for a key", place)
        _check_text(key, place)
    return {key: _copy(item, place + step_into(key), levels - 1) for key, item in value.items()}


def _check_text(text: str, place: str) -> None:
    if has_surrogate(text):
        raise ValueMismatch("half of a surrogate pair", "a string", place)


def _described(value: object) -> str:
    """Name the class, and show the value if it is short."""
    kind = type(value).__name__
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a foreign repr may raise anything
        return kind
    return f"{kind} {text}" if len(text) <= MOST_SHOWN and " at 0x" not in text else kind


def write_config(placed: PlacedNode, where: str, problems: list[Diagnostic]) -> dict[str, Any]:
    """Write the config of a node, empty if it has none; a config without document form is a problem."""
    config = placed.config
    if config is MISSING:
        return {}
    if isinstance(placed.type, NodeType) and not placed.config_is_json:
        config, faults = placed.type.read_config(config)
        problems.extend(fault.problem.within(f"{where}.config") for fault in faults)
        if faults:
            return {}
    if isinstance(config, BaseModel):
        return _write_model(config, where, problems)
    try:
        written: dict[str, Any] = as_json(config)
    except ValueMismatch as mismatch:
        problems.append(unwritable(f"{where}.config", "the config", mismatch))
        return {}
    return written


def unwritable(place: str, what: str, mismatch: ValueMismatch) -> Diagnostic:
    """Return the problem of a value that has no document form; the place within it follows `place`."""
    inner = (place + mismatch.place).removeprefix(".")
    return VALUE_UNWRITABLE(inner, what=what, expected=mismatch.expected, found=mismatch.found)


def with_found_paths(placed: PlacedNode, node_type: NodeType) -> PlacedNode:
    """Return a node for a document in another folder: the paths in its config are absolute.

    Only the type knows which strings are paths; a config without paths is returned unchanged.
    """
    bare, _ = node_type.read_config(placed.config, placed.config_is_json)
    found, faults = node_type.read_config(placed.config, placed.config_is_json, placed.folder)
    return placed if faults or found == bare else replace(placed, config=found, config_is_json=False)


def _is_same(restored: object, given: object) -> bool:
    """Return whether a part of a config is read back unchanged; a type may say the same in other words."""
    if restored == given:
        return True
    if isinstance(given, BaseModel) and type(restored) is type(given):
        names = type(given).model_fields
        return all(_is_same(getattr(restored, name), getattr(given, name)) for name in names)
    if not (isinstance(given, type) or get_origin(given) is not None):
        return False
    is_alike = agrees(restored, given) and agrees(given, restored)
    return is_alike and json_schema(restored) == json_schema(given) != {}


def _write_model(config: BaseModel, where: str, problems: list[Diagnostic]) -> dict[str, Any]:
    functions = list(_functions_in(config, f"{where}.config"))
    local = [(place, function) for place, function in functions if name_of_function(function) is None]
    if local:
        problems.extend(unnamed(function).within(place) for place, function in local)
        return {}
    try:
        written: dict[str, Any] = as_json(config.model_dump(mode="json", warnings="error", by_alias=True))
        restored = type(config).model_validate_json(json.dumps(written), strict=True)
    except ValidationError as error:
        found = error.errors()[0]["msg"].removeprefix("Value error, ")
        problems.append(VALUE_NOT_RESTORED(f"{where}.config", found=f"an error: {found}"))
    except PydanticSerializationError as error:
        kind = _UNKNOWN.search(str(error))
        found = kind[1] if kind else str(error)
        problem = VALUE_UNWRITABLE(f"{where}.config", what="the config", expected="JSON values", found=found)
        problems.append(problem)
    except ValueMismatch as mismatch:
        problems.append(unwritable(f"{where}.config", "the config", mismatch))
    else:
        if functions or _is_same(restored, config):
            return written
        problems.append(VALUE_NOT_RESTORED(f"{where}.config", found=repr(restored)))
    return {}


def unnamed(function: Callable[..., Any]) -> Diagnostic:
    """Return the problem of a function that has no name in documents."""
    if is_hidden(function):
        return FUNCTION_HIDDEN(function=qualified_id(function), module=function.__module__)
    return FUNCTION_UNNAMED(function=called(function))


def called(function: Callable[..., Any]) -> str:
    """Name a function in a message."""
    return getattr(function, "__name__", type(function).__name__)


def _functions_in(value: object, place: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions in a config, with the paths of their fields."""
    if isinstance(value, BaseModel):
        parts: Any = dict(value)
    elif isinstance(value, list | tuple):
        parts = dict(enumerate(value))
    else:
        parts = value if isinstance(value, dict) else {}
    for name, part in parts.items():
        yield from _functions_in(part, f"{place}.{name}")
    if callable(value) and not isinstance(value, type | NewType) and get_origin(value) is None:
        yield place, value
