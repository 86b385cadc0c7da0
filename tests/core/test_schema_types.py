"""The Python type of a JSON Schema."""

from __future__ import annotations

from datetime import date
from types import NoneType
from typing import Any, Final, Literal

import pytest

from dataflow.core.config import type_of_schema
from dataflow.core.ports import plain_type
from dataflow.errors import ArgumentInvalid, ValueMismatch
from dataflow.types.agreement import agrees
from dataflow.types.validation import check_json, check_value
from tests.support.codes import codes

TYPES: Final[list[tuple[Any, object]]] = [
    ("string", str),
    ("integer", int),
    ("number", float),
    ("boolean", bool),
    ("null", NoneType),
    ("array", list[Any]),
    ("object", dict[str, Any]),
    ({}, Any),
    ({"title": "anything", "description": "at all"}, Any),
    ({"type": "array", "items": {"type": "string"}}, list[str]),
    ({"type": "array", "items": True}, list[Any]),
    ({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}, list[list[int]]),
    ({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, list[str]),
    (
        {"type": "array", "prefixItems": [{"type": "string"}, {}], "minItems": 2, "maxItems": 2},
        tuple[str, Any],
    ),
    ({"type": "array", "prefixItems": [{"type": "string"}]}, list[Any]),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, dict[str, int]),
    ({"type": "object", "additionalProperties": False}, dict[str, Any]),
    ({"type": "object", "properties": {"a": {"type": "integer"}}}, dict[str, Any]),
    ({"enum": ["a", 1, None, True]}, Literal["a", 1, None, True]),
    ({"const": "a"}, Literal["a"]),
    ({"enum": [1.5, "a"]}, float | Literal["a"]),
    ({"enum": [[1], "a"]}, Any),
    ({"type": ["string", "null"]}, str | None),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, int | None),
    ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, int | str),
    ({"anyOf": [{"type": "integer"}, {}]}, Any),
    ({"allOf": [{"type": "integer"}]}, int),
    ({"allOf": [{"type": "integer"}, {"minimum": 1}]}, Any),
    ({"not": {"type": "integer"}}, Any),
    ({"type": "string", "format": "date"}, date),
    ({"type": "string", "format": "email"}, str),
    ({"type": "integer", "minimum": 0.5}, int),
    ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "integer"}}}, int),
]


def test_a_schema_gives_a_type() -> None:
    found = [plain_type(type_of_schema(schema)) for schema, _ in TYPES]
    assert found == [expected for _, expected in TYPES]


def test_a_schema_that_refers_to_itself_ends_in_any() -> None:
    node = {"type": "array", "items": {"$ref": "#/$defs/node"}}
    assert plain_type(type_of_schema({"$ref": "#/$defs/node", "$defs": {"node": node}})) == list[Any]
    assert plain_type(type_of_schema({"type": "array", "items": {"$ref": "#"}})) == list[list[Any]]


def test_an_invalid_schema_is_refused() -> None:
    cases: dict[str, list[Any]] = {
        "DF0423": ["strng"],
        "DF0423 type": [{"type": "strng"}, {"type": ["string", "x"]}, {"type": "secret"}, {"type": 5}],
        "DF0421 items": [{"type": "array", "items": 5}, {"type": "array", "items": [{}]}],
        "DF0421 anyOf.0": [{"anyOf": ["string"]}],
        "DF0421 type": [{"type": []}],
        "DF0421 minItems": [{"type": "array", "minItems": "2"}],
        "DF0421 minimum": [{"type": "integer", "minimum": True}],
        "DF0421 maxLength": [{"type": "string", "maxLength": 1.5}],
        "DF0421 pattern": [{"type": "string", "pattern": 1}],
        "DF0421 enum": [{"enum": []}, {"enum": "a"}],
        "DF0421 anyOf": [{"anyOf": {}}],
        "DF0422 $ref": [{"$ref": "#/$defs/x"}],
        "DF0421 $ref": [{"$ref": 5}],
    }
    for problem, schemas in cases.items():
        for schema in schemas:
            with pytest.raises(ArgumentInvalid) as caught:
                type_of_schema(schema)
            assert codes(caught.value) == [problem]
    with pytest.raises(ArgumentInvalid) as caught:
        type_of_schema("secret")
    assert "format: secret" in caught.value.diagnostics[0].hint


def test_limits_are_checked_and_do_not_matter_for_agreement() -> None:
    cases: list[tuple[Any, object, object]] = [
        ({"type": "integer", "minimum": 1, "maximum": 3}, 3, 4),
        ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 3}, 2, 3),
        ({"type": "number", "minimum": 0.5}, 0.5, 0.25),
        ({"type": "string", "minLength": 2, "maxLength": 3}, "ab", "a"),
        ({"type": "string", "pattern": "^a"}, "ab", "b"),
        ({"type": "array", "minItems": 1, "items": {"type": "integer"}}, [1], []),
        ({"type": "array", "items": {"type": "integer", "minimum": 1}}, [1], [0]),
        ({"type": "object", "maxProperties": 1}, {"a": 1}, {"a": 1, "b": 2}),
    ]
    for schema, right, wrong in cases:
        kind = type_of_schema(schema)
        for check in (check_json, check_value):
            assert check(right, kind) == right
            with pytest.raises(ValueMismatch):
                check(wrong, kind)
        assert agrees(kind, type_of_schema({key: schema[key] for key in schema.keys() & {"type", "items"}}))
