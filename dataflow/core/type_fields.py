"""Types as fields of configs: given as they are, or as JSON Schemas in documents (S1.2)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, PlainSerializer, WithJsonSchema

from dataflow.core.schema_types import TYPE_NAMES, type_of_schema
from dataflow.types.validation import json_schema

__all__ = ["TypeField"]


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
