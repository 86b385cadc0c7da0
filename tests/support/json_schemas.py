"""A validator for the part of JSON Schema that the published schema uses."""

from __future__ import annotations

import math
from typing import Any, Final

#: Keywords that say nothing about what is valid.
NOTES: Final = {"$schema", "$defs", "title", "description", "default", "examples"}
TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,), "boolean": (bool,), "null": (type(None),), "array": (list,), "object": (dict,),
    "integer": (int,), "number": (int, float),
}  # fmt: skip


def is_valid(value: Any, schema: Any, root: dict[str, Any]) -> bool:
    """Tell whether a value is valid; raise KeyError for a keyword that is not known here."""
    if isinstance(schema, bool):
        return schema
    return all(key in NOTES or RULES[key](value, wanted, schema, root) for key, wanted in schema.items())


def _type(value: Any, wanted: str, schema: Any, root: Any) -> bool:
    is_bool = isinstance(value, bool)
    return isinstance(value, TYPES[wanted]) and (wanted == "boolean" or not is_bool)


def _referred(value: Any, wanted: str, schema: Any, root: Any) -> bool:
    found: Any = root
    for step in wanted.removeprefix("#/").split("/"):
        found = found[step]
    return is_valid(value, found, root)


def _additional(value: Any, wanted: Any, schema: Any, root: Any) -> bool:
    known = schema.get("properties", {})
    rest = [item for key, item in value.items() if key not in known] if isinstance(value, dict) else []
    return all(is_valid(item, wanted, root) for item in rest)


def _same(value: Any, wanted: Any) -> bool:
    return value == wanted and isinstance(value, bool) is isinstance(wanted, bool)


def _properties(value: Any, wanted: Any, schema: Any, root: Any) -> bool:
    return not isinstance(value, dict) or all(
        is_valid(value[key], inner, root) for key, inner in wanted.items() if key in value
    )


RULES: Final[dict[str, Any]] = {
    "type": _type,
    "$ref": _referred,
    "additionalProperties": _additional,
    "properties": _properties,
    "required": lambda value, wanted, *_: not isinstance(value, dict) or all(key in value for key in wanted),
    "propertyNames": lambda value, wanted, _, root: (
        not isinstance(value, dict) or all(is_valid(key, wanted, root) for key in value)
    ),
    "minProperties": lambda value, wanted, *_: not isinstance(value, dict) or len(value) >= wanted,
    "items": lambda value, wanted, _, root: (
        not isinstance(value, list) or all(is_valid(item, wanted, root) for item in value)
    ),
    "minItems": lambda value, wanted, *_: not isinstance(value, list) or len(value) >= wanted,
    "maxItems": lambda value, wanted, *_: not isinstance(value, list) or len(value) <= wanted,
    "minLength": lambda value, wanted, *_: not isinstance(value, str) or len(value) >= wanted,
    "minimum": lambda value, wanted, *_: not _is_number(value) or value >= wanted,
    "exclusiveMinimum": lambda value, wanted, *_: not _is_number(value) or value > wanted,
    "enum": lambda value, wanted, *_: any(_same(value, option) for option in wanted),
    "const": lambda value, wanted, *_: _same(value, wanted),
    "oneOf": lambda value, wanted, _, root: sum(is_valid(value, option, root) for option in wanted) == 1,
    "anyOf": lambda value, wanted, _, root: any(is_valid(value, option, root) for option in wanted),
    "not": lambda value, wanted, _, root: not is_valid(value, wanted, root),
    "dependentSchemas": lambda value, wanted, _, root: all(
        is_valid(value, inner, root)
        for key, inner in wanted.items()
        if isinstance(value, dict) and key in value
    ),
}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
