"""`Config`, the base of node configs, and config fields that hold types or functions."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from uuid import UUID

import annotated_types
from pydantic import AfterValidator, BaseModel, ConfigDict, PlainSerializer, StringConstraints, WithJsonSchema

from dataflow.core.functions import check_function, function_of, is_function_name, name_of_function
from dataflow.diagnostics.arguments import FUNCTION_UNSUITABLE
from dataflow.diagnostics.node_types import SCHEMA_INVALID, SCHEMA_REFERENCE_UNKNOWN, SCHEMA_TYPE_UNKNOWN
from dataflow.errors import ArgumentInvalid
from dataflow.secrets.secret import Secret
from dataflow.types.mismatches import adapter_of
from dataflow.types.shapes import union_of
from dataflow.types.validation import json_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pydantic import ValidationInfo

__all__ = [
    "FOLDER",
    "TYPE_NAMES",
    "Config",
    "FunctionReference",
    "TypeField",
    "field_schemas",
    "resolve_path",
    "type_of_schema",
]

#: The key in pydantic's validation context for the folder of the document that contains the config.
FOLDER: Final = "folder"
_BY_NAME: Final[dict[str, Any]] = {
    "string": str,
    "number": float,
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": NoneType,
}
#: The names of the JSON types.
TYPE_NAMES: Final = tuple(_BY_NAME)
# The formats that pydantic writes for types that JSON represents as strings.
_BY_FORMAT: Final[dict[str, type]] = {
    "date": date,
    "date-time": datetime,
    "time": time,
    "duration": timedelta,
    "uuid": UUID,
    "path": Path,
    "binary": bytes,
    "secret": Secret,
}
_BOUNDS: Final[dict[str, Any]] = {
    "minimum": annotated_types.Ge,
    "maximum": annotated_types.Le,
    "exclusiveMinimum": annotated_types.Gt,
    "exclusiveMaximum": annotated_types.Lt,
}
_SIZES: Final[dict[str, Any]] = {
    "minItems": annotated_types.MinLen,
    "maxItems": annotated_types.MaxLen,
    "minProperties": annotated_types.MinLen,
    "maxProperties": annotated_types.MaxLen,
}
#: The maximum number of schemas read, since references can make a small schema arbitrarily large.
_MOST_SCHEMAS: Final = 1000


class Config(BaseModel):
    """The base class of a node's settings: a parameter annotated with a subclass is config, not a port.

    It is a frozen pydantic model that refuses unknown fields; the check of a flow validates it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


def resolve_path(path: str, info: ValidationInfo) -> str:
    """Make a path in a config absolute, relative to the folder of the document that contains it.

    `info` is the argument that pydantic passes to a validator of the config. The path of a config outside a
    document is returned unchanged, and so is an empty one.
    """
    folder = (info.context or {}).get(FOLDER)
    return str(Path(folder, path).absolute()) if folder and path else path


def _check(value: object) -> object:
    check_function(value, "value")
    if callable(value) or (isinstance(value, str) and is_function_name(value)):
        return value
    expected = f"{function_of(['value'])}, or its name module:qualname"
    raise ArgumentInvalid(FUNCTION_UNSUITABLE(expected=expected, found=repr(value)))


FunctionReference = Annotated[
    Any,
    AfterValidator(_check),
    PlainSerializer(lambda value: value if isinstance(value, str) else name_of_function(value)),
]


def type_of_schema(schema: Mapping[str, Any] | str) -> object:
    """Return the Python type that a JSON Schema, or the name of a JSON type, describes.

    `enum` and `const` become Literal, alternatives a union, limits and lengths Annotated. Objects become
    dicts, arrays lists, or tuples if each item has its own schema. The formats of dates, times, UUIDs, paths,
    bytes and secrets become their types. Constraints that a type cannot express are not checked.

    Raises ValueError for an invalid schema.
    """
    whole = {"type": schema} if isinstance(schema, str) else schema
    return _Reading(whole).type_of(whole)


def field_schemas(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the schemas of an object's fields, each with the definitions that it may refer to.

    None if the schema describes no fields.
    """
    fields = schema.get("properties")
    if not isinstance(fields, dict):
        return None
    shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    return {name: {**part, **shared} if isinstance(part, dict) else part for name, part in fields.items()}


class _Reading:
    """The conversion of one schema.

    left: how many more schemas are read
    open: the references that are being resolved; one that recurs becomes Any
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.left = _MOST_SCHEMAS
        self.open: list[str] = []

    def type_of(self, schema: object) -> Any:
        self.left -= 1
        if isinstance(schema, bool) or self.left < 0:
            return Any
        if not isinstance(schema, dict):
            raise _invalid("", "a mapping or the name of a JSON type", schema)
        if "$ref" in schema:
            return self._referred(schema["$ref"])
        if "const" in schema:
            return _one_of([schema["const"]])
        if "enum" in schema:
            return _one_of(_list(schema, "enum"))
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return _union(self.type_of(option) for option in _list(schema, key))
        if "allOf" in schema:
            parts = [self.type_of(part) for part in _list(schema, "allOf")]
            return parts[0] if len(parts) == 1 else Any
        names = schema.get("type", Any)
        if names is Any:
            return Any
        if isinstance(names, list):
            return _union(self._named(name, schema) for name in _list(schema, "type"))
        return self._named(names, schema)

    def _referred(self, reference: object) -> Any:
        if not isinstance(reference, str):
            raise _invalid("$ref", "a string", reference)
        if not reference.startswith("#") or reference in self.open:
            return Any
        found: Any = self.root
        for step in reference.removeprefix("#").split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or key not in found:
                raise ArgumentInvalid(SCHEMA_REFERENCE_UNKNOWN(reference=reference))
            found = found[key]
        self.open.append(reference)
        result = self.type_of(found)
        self.open.pop()
        return result

    def _named(self, name: object, schema: Mapping[str, Any]) -> Any:
        if not isinstance(name, str) or name not in _BY_NAME:
            advice = "a secret is {type: string, format: secret}" if name == "secret" else ""
            raise ArgumentInvalid(SCHEMA_TYPE_UNKNOWN(name=name, advice=advice, available=_BY_NAME))
        match name:
            case "string":
                return _text(schema)
            case "array":
                return self._array(schema)
            case "object":
                values = schema.get("additionalProperties", True)
                value_type = Any if "properties" in schema else self.type_of(values)
                kind = dict[str, value_type]  # type: ignore[valid-type]  # known at run time only
                return _bounded(kind, schema, ("minProperties", "maxProperties"), _SIZES)
            case "integer" | "number":
                return _bounded(_BY_NAME[name], schema, _BOUNDS, _BOUNDS)
            case _:
                return _BY_NAME[name]

    def _array(self, schema: Mapping[str, Any]) -> Any:
        if "prefixItems" in schema:
            items = _list(schema, "prefixItems")
            if schema.get("minItems") == schema.get("maxItems") == len(items):
                return tuple.__class_getitem__(tuple(self.type_of(item) for item in items))
            return list[Any]
        item_type = self.type_of(schema.get("items", True))
        kind = list[item_type]  # type: ignore[valid-type]  # known at run time only
        return _bounded(kind, schema, ("minItems", "maxItems"), _SIZES)


def _list(schema: Mapping[str, Any], key: str) -> list[Any]:
    found = schema[key]
    if not isinstance(found, list) or not found:
        raise _invalid(key, "a list that is not empty", found)
    return found


def _invalid(key: str, expected: str, found: object) -> ArgumentInvalid:
    return ArgumentInvalid(SCHEMA_INVALID(key, expected=expected, found=repr(found)))


def _union(options: Iterable[Any]) -> Any:
    types = list(options)
    return Any if Any in types else union_of(types)


def _one_of(values: Sequence[object]) -> Any:
    if not any(isinstance(value, float | list | dict) for value in values):
        return Literal[tuple(values)]
    return _union(_literal(value) for value in values)


def _literal(value: object) -> Any:
    if isinstance(value, list | dict):
        return Any
    return float if isinstance(value, float) else Literal[value]


def _text(schema: Mapping[str, Any]) -> Any:
    kind = _BY_FORMAT.get(str(schema.get("format")), str)
    keys = {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"}
    given = {name: schema[key] for key, name in keys.items() if key in schema}
    for key, name in keys.items():
        if name in given and type(given[name]) is not (str if key == "pattern" else int):
            raise _invalid(key, "a string" if key == "pattern" else "an integer", given[name])
    if kind is not str or not given:
        return kind
    return _if_checkable(str, [StringConstraints(**given)])


def _bounded(kind: Any, schema: Mapping[str, Any], keys: Iterable[str], table: Mapping[str, Any]) -> Any:
    """Add the limits of a schema to a type."""
    bounds = []
    for key in keys:
        if key in schema:
            if type(schema[key]) not in (int, float):
                raise _invalid(key, "a number", schema[key])
            bounds.append(table[key](schema[key]))
    return _if_checkable(kind, bounds) if bounds else kind


def _if_checkable(kind: Any, constraints: list[Any]) -> Any:
    """Add constraints unless pydantic cannot check them, such as a pattern with look-ahead."""
    constrained = Annotated[(kind, *constraints)]
    return kind if adapter_of(constrained) is None else constrained


def _read(given: object) -> object:
    return type_of_schema(given) if isinstance(given, str | dict) else given


def _write(given: object) -> object:
    schema = json_schema(given)
    return schema["type"] if set(schema) == {"type"} else schema


#: A Python type, or in documents its JSON Schema or the name of a JSON type.
TypeField = Annotated[
    Any,
    AfterValidator(_read),
    PlainSerializer(_write),
    WithJsonSchema({"anyOf": [{"enum": list(TYPE_NAMES)}, {"type": "object"}]}),
]
