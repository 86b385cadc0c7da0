"""Answers of a type: the schema that a model is given, and the value in what it wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import AfterValidator, PlainSerializer, TypeAdapter, WithJsonSchema

from dataflow import TypeField, ValueMismatch, check_json, json_schema
from dataflow_agent.model_errors import AnswerUnfit

__all__ = ["FIELD", "AnswerField", "AnswerType"]

#: The field that holds an answer which is no object by itself: providers take schemas of objects only.
FIELD: Final = "answer"
#: Where a schema has what it refers to.
DEFINITIONS: Final = ("$defs", "definitions")
#: How many characters of an answer that does not fit are told.
MOST_SHOWN: Final = 200

_types: Final = TypeAdapter[Any](TypeField)


@dataclass(frozen=True, slots=True)
class AnswerType:
    """The type of an answer, and its JSON Schema, which says more where a document gave it."""

    type: Any
    schema: Mapping[str, Any]

    @property
    def is_wrapped(self) -> bool:
        """Whether the model is to answer with an object that has the value in a field of its own."""
        return self.schema.get("type") != "object"

    @property
    def asked(self) -> dict[str, Any]:
        """The schema that a model is given: always that of an object."""
        schema: dict[str, Any] = dict(self.schema)
        if not self.is_wrapped:
            return schema
        shared: dict[str, Any] = {name: schema.pop(name) for name in DEFINITIONS if name in schema}
        return {"type": "object", "properties": {FIELD: schema}, "required": [FIELD], **shared}

    def read(self, model: str, text: str) -> object:
        """Return the value that an answer holds; raises AnswerUnfit, which tells what was found."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise AnswerUnfit(model, f"expected an answer in JSON, found {_shown(text)}: {error}") from None
        try:
            check_json(found, dict[str, Any])
            _check(found, self.asked, "")
            return check_json(found[FIELD] if self.is_wrapped else found, self.type)
        except ValueMismatch as mismatch:
            raise AnswerUnfit(model, f"the answer does not fit: {mismatch}; it was {_shown(text)}") from None


def _check(value: Any, schema: Any, place: str) -> None:
    """Check the fields of objects by their schemas, which the type of a port does not know (S1.7)."""
    if not isinstance(schema, dict):
        return
    if isinstance(value, dict):
        fields = schema.get("properties", {})
        for name in schema.get("required", ()):
            if name not in value:
                raise ValueMismatch("nothing", "a value", f"{place}.{name}")
        for name in fields:
            if name in value:
                _check_part(value[name], fields[name], f"{place}.{name}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _check_part(item, schema.get("items"), f"{place}[{number}]")


def _check_part(value: Any, schema: Any, place: str) -> None:
    if isinstance(schema, dict) and "$ref" not in str(schema):  # what it leads to stands elsewhere
        try:
            check_json(value, _types.validate_python(schema))
        except ValueMismatch as mismatch:
            raise ValueMismatch(mismatch.found, mismatch.expected, place + mismatch.place) from None
    _check(value, schema, place)


def _shown(text: str) -> str:
    return repr(text) if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]!r} and more"


def _read(given: Any) -> AnswerType:
    if isinstance(given, AnswerType):
        return given
    expected = _types.validate_python(given)
    return AnswerType(expected, given if isinstance(given, dict) else json_schema(expected))


def _write(given: AnswerType) -> object:
    schema = dict(given.schema)
    return schema["type"] if set(schema) == {"type"} else schema


#: A Python type, or in documents its JSON Schema or the name of a JSON type.
AnswerField = Annotated[
    Any, AfterValidator(_read), PlainSerializer(_write), WithJsonSchema(_types.json_schema())
]
