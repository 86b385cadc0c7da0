"""`Config`, the base of node configs, and config fields that hold types or functions."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainSerializer, WithJsonSchema, model_validator

from dataflow.core.config_parts import wrong_part
from dataflow.core.functions import check_function, function_of, is_function_name, name_of_function
from dataflow.diagnostics.arguments import FUNCTION_UNSUITABLE
from dataflow.diagnostics.node_types import CONFIG_INVALID
from dataflow.errors import ArgumentInvalid
from dataflow.secrets.secret import Secret
from dataflow.types.schemas import TYPE_NAMES, JsonSchema, unknown_type
from dataflow.types.shapes import type_name, union_of
from dataflow.types.validation import described, json_schema

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
_BY_NAME: Final[dict[str, Any]] = dict(
    zip(TYPE_NAMES, (str, float, int, bool, list, dict, NoneType), strict=True)
)
#: The formats that pydantic writes for types that JSON represents as strings.
TYPES_OF_FORMATS: Final[Mapping[str, type]] = {
    "date": date,
    "date-time": datetime,
    "time": time,
    "duration": timedelta,
    "uuid": UUID,
    "path": Path,
    "binary": bytes,
    "secret": Secret,
}
#: Keywords that describe a schema to readers; the values are strings.
_DESCRIBING: Final = ("title", "description", "$comment")
#: The maximum number of schemas read, since references can make a small schema arbitrarily large.
_MOST_SCHEMAS: Final = 1000


class Config(BaseModel):
    """The base class of a node's settings: a parameter annotated with a subclass is config, not a port.

    It is a frozen pydantic model that refuses unknown fields; the check of a flow validates it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        found = wrong_part(self)
        if found is not None:
            expected = found.requirement or type_name(found.expected)
            problem = CONFIG_INVALID(found.place, expected=expected, found=described(found.value))
            raise ArgumentInvalid(problem)
        return self


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

    `enum` and `const` become Literal, alternatives a union. Objects become dicts, arrays lists, or tuples if
    each item has its own schema. The formats of dates, times, UUIDs, paths, bytes and secrets become their
    types. Where the type does not say all that the schema does, the schema is in its metadata, and values are
    checked by it.

    Raises ArgumentInvalid for a schema that is invalid or has parts that are not checked.
    """
    if isinstance(schema, str):
        if schema not in _BY_NAME:
            raise ArgumentInvalid(unknown_type(schema))
        return _Reading({"type": schema}).whole()
    by_type = _is_said_by_type(schema)
    checked = JsonSchema.of(schema, is_checked=not by_type)
    found = _Reading(schema).whole()
    return found if by_type and json_schema(found) == schema else Annotated[found, checked]


def _is_said_by_type(schema: object) -> bool:
    """Return whether a type accepts exactly the values that fit a schema; most schemas are such."""
    todo, left = [schema], _MOST_SCHEMAS
    while todo:
        part, left = todo.pop(), left - 1
        if not isinstance(part, dict) or not left:
            return False
        keys = {key for key in part if not (key in _DESCRIBING and isinstance(part[key], str))} - {"default"}
        name = part.get("type")
        if name is not None and not (isinstance(name, str) and name in _BY_NAME):
            return False
        match sorted(keys), name:
            case ([] | ["type"], _) | (["format", "type"], "string") if (
                part.get("format") in (None, "path", "binary", "secret")  # of others types take more
            ):
                pass
            case (["items", "type"], "array"):
                todo.append(part["items"])
            case (["additionalProperties", "type"], "object") if part["additionalProperties"] is not True:
                todo.append(part["additionalProperties"])
            case (["additionalProperties", "type"], "object"):
                pass
            case (["enum"], _) if _is_literal(part["enum"]):
                pass
            case (["enum", "type"], "string") if _is_literal(part["enum"], str):
                pass
            case (["anyOf"], _) if isinstance(part["anyOf"], list) and part["anyOf"]:
                todo += part["anyOf"]
            case _:
                return False
    return True


def _is_literal(values: object, *kinds: type) -> bool:
    allowed = kinds or (str, int, bool, NoneType)
    return isinstance(values, list) and bool(values) and all(type(value) in allowed for value in values)


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
    """The conversion of one valid schema.

    left: how many more schemas are read
    open: the references that are being resolved; one that recurs becomes Any
    """

    def __init__(self, root: Mapping[str, Any] | bool) -> None:
        self.root = root
        self.left = _MOST_SCHEMAS
        self.open: list[str] = []

    def whole(self) -> Any:
        return self._type_of(self.root)

    def _type_of(self, schema: Any) -> Any:
        self.left -= 1
        if not isinstance(schema, dict) or self.left < 0:
            return Any
        if "$ref" in schema:
            return self._referred(schema["$ref"])
        if "const" in schema:
            return _one_of([schema["const"]])
        if "enum" in schema:
            return _one_of(schema["enum"])
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return _union(map(self._type_of, schema[key]))
        if "allOf" in schema:
            return self._type_of(schema["allOf"][0]) if len(schema["allOf"]) == 1 else Any
        names = schema.get("type", [])
        if isinstance(names, str):
            return self._named(names, schema)
        return _union(self._named(name, schema) for name in names)

    def _referred(self, reference: str) -> Any:
        """Return the type of a part of this schema; Any for an anchor, and where a reference recurs."""
        found: Any = self.root
        for step in reference.removeprefix("#").split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or key not in found:
                return Any
            found = found[key]
        is_pointer = reference == "#" or reference.startswith("#/")
        if not is_pointer or reference in self.open:
            return Any
        self.open.append(reference)
        result = self._type_of(found)
        self.open.pop()
        return result

    def _named(self, name: str, schema: Mapping[str, Any]) -> Any:
        match name:
            case "string":
                return TYPES_OF_FORMATS.get(schema.get("format", ""), str)
            case "array":
                return self._array(schema)
            case "object":
                values = schema.get("additionalProperties", True)
                value_type = Any if {"properties", "patternProperties"} & {*schema} else self._type_of(values)
                return dict[str, value_type]  # type: ignore[valid-type]  # known at run time only
            case _:
                return _BY_NAME[name]

    def _array(self, schema: Mapping[str, Any]) -> Any:
        if "prefixItems" in schema:
            items = schema["prefixItems"]
            if schema.get("minItems") == schema.get("maxItems") == len(items):
                return tuple.__class_getitem__(tuple(map(self._type_of, items)))
            return list[Any]
        item_type = self._type_of(schema.get("items", True))
        return list[item_type]  # type: ignore[valid-type]  # known at run time only


def _union(options: Iterable[Any]) -> Any:
    types = list(options)
    return Any if Any in types else union_of(types)


def _one_of(values: Sequence[object]) -> Any:
    if not any(isinstance(value, float | list | dict) for value in values):
        return Literal[tuple(values)] if values else Any
    return _union(_literal(value) for value in values)


def _literal(value: object) -> Any:
    if isinstance(value, list | dict):
        return Any
    return float if isinstance(value, float) else Literal[value]


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
