"""Answers of a type: the schema that a model is given, and the value in what it wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import AfterValidator, PlainSerializer, TypeAdapter, WithJsonSchema

from dataflow import ValueMismatch
from dataflow.authoring import TypeField, check_json, json_schema, shortened
from dataflow_agent.models.errors import AnswerUnfit
from dataflow_agent.models.fitting import check_fit
from dataflow_agent.models.schemas import DEFINITIONS, check_schema

__all__ = ["FIELD", "AnswerField", "AnswerType"]

#: The field that holds an answer which is no object by itself: providers take schemas of objects only.
FIELD: Final = "answer"
#: How many characters of an answer that does not fit are told.
MOST_SHOWN: Final = 200

_types: Final = TypeAdapter[Any](TypeField)


@dataclass(frozen=True, slots=True)
class AnswerType:
    """The type of an answer, and its JSON Schema.

    is_by_schema: whether the schema came first, which may say more than a type can
    """

    type: Any
    schema: Mapping[str, Any]
    is_by_schema: bool = field(default=False, compare=False)

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
            found = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise AnswerUnfit(model, f"expected an answer in JSON, found {_shown(text)}: {error}") from None
        try:
            check_json(found, dict[str, Any])
            if self.is_wrapped and FIELD not in found:
                raise ValueMismatch("nothing", "a value", f".{FIELD}")
            if self.is_by_schema:
                check_fit(found, self.asked)
            if self.is_wrapped:
                return _check_type(found[FIELD], self.type, f".{FIELD}")
            return _check_type(found, self.type, "")
        except ValueMismatch as mismatch:
            raise AnswerUnfit(model, f"the answer does not fit: {mismatch}; it was {_shown(text)}") from None
        except RecursionError:
            raise AnswerUnfit(model, f"the answer nests too deep: it was {_shown(text)}") from None


def _check_type(value: Any, expected: object, place: str) -> object:
    try:
        return check_json(value, expected)
    except ValueMismatch as mismatch:
        raise ValueMismatch(mismatch.found, mismatch.expected, place + mismatch.place) from None


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no number in JSON")


def _shown(text: str) -> str:
    return repr(shortened(text, MOST_SHOWN))


def _read(given: Any) -> AnswerType:
    if isinstance(given, AnswerType):
        return given
    expected = _types.validate_python(given)
    if not isinstance(given, dict):
        return AnswerType(expected, json_schema(expected))
    check_schema(given)
    return AnswerType(expected, given, is_by_schema=True)


def _write(given: AnswerType) -> object:
    schema = dict(given.schema)
    return schema["type"] if set(schema) == {"type"} else schema


#: A Python type, or in documents its JSON Schema or the name of a JSON type.
AnswerField = Annotated[
    Any, AfterValidator(_read), PlainSerializer(_write), WithJsonSchema(_types.json_schema())
]
