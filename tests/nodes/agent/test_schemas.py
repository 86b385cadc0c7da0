"""JSON Schemas of answers: what is refused before anything runs, and what a value has to fit."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from dataflow import Flow, FlowInvalid, ValueMismatch
from dataflow.authoring import json_schema
from dataflow_agent import AnswerUnfit, Chat
from dataflow_agent.models.calls import AnswerType
from dataflow_agent.models.schemas import check_fit, check_schema

#: The validator of what litellm brings along, to which ours is held.
VALIDATOR: Final = importlib.import_module("jsonschema").Draft202012Validator

TREE: Final[dict[str, Any]] = {
    "$ref": "#/$defs/Tree",
    "$defs": {
        "Tree": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "inner": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
            },
            "required": ["name"],
            "additionalProperties": False,
        }
    },
}


def typed(schema: Any) -> AnswerType:
    found = Chat(answer=schema).typed
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (
            {"type": "object", "properties": {"a": {"type": "text"}}},
            "properties.a.type: expected one or several",
        ),
        (
            {"type": "object", "properties": {"a": {"minimun": 1}}},
            "properties.a.minimun: answers cannot be checked",
        ),
        ({"type": "object", "properties": {"a": 1}}, "properties.a: expected a JSON Schema, found 1"),
        ({"type": "object", "properties": []}, "properties: expected a mapping, found []"),
        ({"type": "object", "required": "a"}, "required: expected a list of names, found 'a'"),
        ({"type": "object", "patternProperties": {"(": {}}}, "expected a mapping of regular expressions"),
        (
            {"type": "object", "properties": {"a": {"pattern": "("}}},
            "a.pattern: expected a regular expression",
        ),
        ({"type": "object", "properties": {"a": {"multipleOf": 0}}}, "expected a number above 0, found 0"),
        ({"type": "object", "properties": {"a": {"multipleOf": 1e400}}}, "a number above 0, found inf"),
        (
            {"type": "object", "properties": {"a": {"maxItems": -1}}},
            "expected a number of at least 0, found -1",
        ),
        (
            {"type": "object", "properties": {"a": {"minimum": True}}},
            "a.minimum: expected a number, found True",
        ),
        (
            {"type": "object", "properties": {"a": {"enum": []}}},
            "expected a list that is not empty, found []",
        ),
        ({"type": "object", "properties": {"a": {"uniqueItems": 1}}}, "expected true or false, found 1"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}, "'#/$defs/a' leads to nothing"),
        ({"type": "object", "properties": {"a": {"$ref": "http://a/b"}}}, "'http://a/b' cannot be followed"),
        (
            {"type": "object", "properties": {"a": {"$ref": "#"}}},
            "'#' cannot be followed; expected #/$defs/NAME",
        ),
        ({"type": "object", "properties": {"a": {"$ref": 1}}}, "a.$ref: expected text, found 1"),
        ({"type": "object", "if": {}}, "if: answers cannot be checked by 'if'"),
        (
            {
                "type": "object",
                "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}},
            },
            "definitions that lead to each other: ",
        ),
    ],
)
def test_a_schema_that_answers_cannot_be_checked_by_is_refused(schema: Any, reason: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Chat(answer=schema)
    assert reason in str(caught.value)


def test_a_bad_schema_of_a_document_is_a_problem_of_the_flow(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(
        "dataflow: 1\nnodes:\n  a:\n    type: agent.chat\n    values: {prompt: hi}\n"
        "    config: {answer: {type: object, properties: {n: {type: int}}}}\n",
        encoding="utf-8",
    )
    with pytest.raises(
        FlowInvalid,
        match=r"node 'a' \(agent.chat\): config answer: properties\.n\.type: expected one or several of",
    ):
        Flow.load(file)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"answer": {"name": ""}}', ".answer.name: expected at least 1 characters, found str ''"),
        (
            '{"answer": {"name": "a", "inner": [{}]}}',
            ".answer.inner[0].name: expected a value, found nothing",
        ),
        ('{"answer": {"name": "a", "inner": [3]}}', ".answer.inner[0]: expected object, found int 3"),
        ('{"answer": {"name": "a", "more": 1}}', ".answer.more: expected nothing, found int 1"),
        ('{"answer": NaN}', "NaN is no number in JSON"),
    ],
)
def test_what_a_reference_leads_to_is_checked(text: str, told: str) -> None:
    good = {"name": "a", "inner": [{"name": "b"}]}
    assert typed(TREE).read("a/b", '{"answer": {"name": "a", "inner": [{"name": "b"}]}}') == good
    with pytest.raises(AnswerUnfit) as caught:
        typed(TREE).read("a/b", text)
    assert told in str(caught.value)


@pytest.mark.parametrize("levels", [490, 50_000])
def test_an_answer_that_nests_too_deep_is_unfit(levels: int) -> None:
    text = '{"name": "a", "inner": [' * levels + "]}" * levels
    with pytest.raises(AnswerUnfit, match=r"nests too deep|in JSON, .* recursion"):
        typed(TREE).read("a/b", f'{{"answer": {text}}}')


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        ({"const": 1}, True, "expected 1, found bool True"),
        ({"enum": [1, 2], "const": 1}, 2, "expected 1, found int 2"),
        ({"enum": ["x", None]}, "y", "expected \"x\" or null, found str 'y'"),
        ({"not": {"type": "null"}}, None, "expected what does not fit the schema of `not`"),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, 3, "expected null or string, found int 3"),
        (
            {"anyOf": [{"type": "null"}, {"properties": {"a": {"type": "null"}}}]},
            {"a": 1},
            ".a: expected null, found int 1",
        ),
        (
            {"oneOf": [{"type": "integer"}, {"type": "number"}]},
            3,
            "expected what fits one alternative alone, not 2",
        ),
        ({"const": [1.0, {"a": 2}]}, [1, {"a": True}], 'expected [1.0, {"a": 2}], found list'),
        ({"uniqueItems": True}, [1, True, 1.0], "expected items that differ, found list [1, True, 1.0]"),
        ({"prefixItems": [{}], "items": False}, [1, 2], "[1]: expected nothing, found int 2"),
        ({"multipleOf": 3}, 10**60, "expected a multiple of 3, found int 1000"),
        pytest.param({"multipleOf": 3}, 10**400, "a multiple of 3, found int 1000", id="no float"),
        ({"multipleOf": 3}, float("inf"), "expected a multiple of 3, found float inf"),
        ({"type": "string", "format": "date"}, "2026-02-30", "found str '2026-02-30'"),
        ({"items": {"multipleOf": 0.1}}, [0.3, 0.35], "[1]: expected a multiple of 0.1, found float 0.35"),
        (
            {"type": "string", "maxLength": 3},
            "x" * 99,
            f"found str '{'x' * 18}... 63 characters ...{'x' * 18}'",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_told(schema: dict[str, Any], value: Any, told: str) -> None:
    check_schema(schema)
    with pytest.raises(ValueMismatch) as caught:
        check_fit(value, schema)
    assert told in str(caught.value)


def test_a_large_number_may_be_a_multiple_of_a_small_one() -> None:
    for value, step in ((1e40, 0.01), (10**400, 0.5), (9 * 10**400, 3), (0.3, 0.1)):
        check_schema({"multipleOf": step})
        check_fit(value, {"multipleOf": step})


class Leaf(BaseModel):
    size: int
    inner: list[Leaf] = []


def test_the_schema_of_a_model_is_one_that_answers_can_be_checked_by() -> None:
    for kind in (Leaf, dict[str, Leaf], list[Leaf | int | None], tuple[Leaf, str]):
        check_schema(json_schema(kind))


numbers = st.integers(-3, 3) | st.sampled_from([0.5, 1.5, 10**40, 10**40 + 1])
scalars = st.none() | st.booleans() | numbers | st.text("ab", max_size=3)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
NAMES: Final = ("string", "number", "integer", "boolean", "array", "object", "null")
leaves = st.one_of(
    st.booleans(),
    st.sampled_from([{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/two"}]),
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(NAMES) | st.lists(st.sampled_from(NAMES), min_size=1, max_size=2),
            "minimum": st.integers(-2, 2),
            "exclusiveMaximum": st.integers(-2, 2),
            "multipleOf": st.sampled_from([0.5, 2, 3, 10**20]),
            "maxLength": st.integers(0, 3),
            "pattern": st.sampled_from(["a", "^b"]),
            "uniqueItems": st.booleans(),
            "minItems": st.integers(0, 2),
            "maxProperties": st.integers(0, 2),
        },
    ),
    st.fixed_dictionaries({"enum": st.lists(values, min_size=1, max_size=2)}, optional={"const": values}),
    st.fixed_dictionaries({"const": values}),
)


def nested(inner: Any) -> Any:
    several = st.lists(inner, min_size=1, max_size=2)
    fields = st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            "anyOf": several,
            "oneOf": several,
            "allOf": several,
            "not": inner,
            "items": inner,
            "prefixItems": several,
            "properties": fields,
            "patternProperties": st.dictionaries(st.sampled_from(["a", "^b"]), inner, max_size=1),
            "additionalProperties": inner,
            "propertyNames": st.just({"pattern": "a"}),
            "required": st.lists(st.sampled_from("abc"), max_size=1),
        },
    )


schemas = st.recursive(leaves, nested, max_leaves=5)


@given(schemas, st.sampled_from(NAMES), st.recursive(scalars.map(lambda one: {"const": one}), nested), values)
def test_a_value_fits_exactly_if_the_usual_validator_says_so(
    schema: Any, one: str, two: Any, value: Any
) -> None:
    whole = {"allOf": [schema], "$defs": {"one": {"type": one}, "two": two}}
    check_schema(whole)
    try:
        check_fit(value, whole)
    except ValueMismatch:
        fits = False
    else:
        fits = True
    assert fits == VALIDATOR(whole).is_valid(value)
