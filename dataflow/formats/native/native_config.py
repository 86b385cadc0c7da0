"""Configs of nodes as they stand in native documents."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from dataflow.core.functions import name_of_function
from dataflow.core.nodetype import NodeType
from dataflow.core.ports import MISSING
from dataflow.errors import ValueMismatch
from dataflow.formats.native.constants import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataflow.core.wiring import PlacedNode

__all__ = ["UNNAMED", "called", "with_found_paths", "write_config"]

#: Why a function has no document form.
UNNAMED = "has no document form; documents name functions at the top of a module, as module:qualname"
# What pydantic says of an object that is no data.
_UNKNOWN: Final = re.compile(r"Unable to serialize unknown type: <class '(?:.*\.)?(\w+)'>")


def write_config(placed: PlacedNode, where: str, problems: list[str]) -> dict[str, Any]:
    """Write the config of a node, empty if it has none; what has no document form becomes a problem."""
    config = placed.config
    if config is MISSING:
        return {}
    if isinstance(placed.type, NodeType) and not placed.config_is_json:
        config, faults = placed.type.read_config(config)
        problems.extend(f"{where}: {fault.text}" for fault in faults)
        if faults:
            return {}
    if isinstance(config, BaseModel):
        return _write_model(config, where, problems)
    try:
        written: dict[str, Any] = as_json(config)
    except ValueMismatch as mismatch:
        problems.append(f"{where}: the config has no document form: {mismatch}")
        return {}
    return written


def with_found_paths(placed: PlacedNode, node_type: NodeType) -> PlacedNode:
    """Return a node that is written into a document of another folder: the paths in its config are absolute.

    Only the type knows which texts are paths; a config without any stays as it is.
    """
    bare, _ = node_type.read_config(placed.config, placed.config_is_json)
    found, faults = node_type.read_config(placed.config, placed.config_is_json, placed.folder)
    return placed if faults or found == bare else replace(placed, config=found, config_is_json=False)


def _write_model(config: BaseModel, where: str, problems: list[str]) -> dict[str, Any]:
    functions = list(_functions_in(config, ""))
    unnamed = [(place, function) for place, function in functions if name_of_function(function) is None]
    if unnamed:
        problems.extend(f"{where}, {place}: {called(function)} {UNNAMED}" for place, function in unnamed)
        return {}
    try:
        written: dict[str, Any] = as_json(config.model_dump(mode="json", warnings="error", by_alias=True))
        restored = type(config).model_validate_json(json.dumps(written), strict=True)
        reason = "" if functions or restored == config else f"read back it would be {restored!r}"
    except ValidationError as error:
        reason = f"it would not be read back: {error.errors()[0]['msg'].removeprefix('Value error, ')}"
    except (PydanticSerializationError, ValueMismatch) as error:
        reason = _UNKNOWN.sub(r"expected a JSON value, found \1", str(error))
    if reason:
        problems.append(f"{where}: the config has no document form: {reason}")
        return {}
    return written


def called(function: Callable[..., Any]) -> str:
    """Name a function in a message."""
    return getattr(function, "__name__", type(function).__name__)


def _functions_in(value: object, place: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Find the functions in a config, with the fields they stand in."""
    if isinstance(value, BaseModel):
        parts: Any = dict(value)
    elif isinstance(value, list | tuple):
        parts = dict(enumerate(value))
    else:
        parts = value if isinstance(value, dict) else {}
    for name, part in parts.items():
        yield from _functions_in(part, f"{place}.{name}".lstrip("."))
    if callable(value) and not isinstance(value, type) and get_origin(value) is None:
        yield place, value
