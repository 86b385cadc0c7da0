"""Answers of a type: the schema that a model is given, what it may say, and what does not fit."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from dataflow import ArgumentInvalid, Diagnostic, Flow, FlowInvalid, RunFailed, ValueMismatch
from dataflow.authoring import json_schema
from dataflow_agent import AnswerUnfit, Chat, chat, scripted
from dataflow_agent.models.calls import AnswerType
from dataflow_agent.models.schemas import check_fit, check_schema
from tests.support.codes import codes


class Verdict(BaseModel):
    is_approved: bool
    reasons: list[str] = []


SCHEMA = {
    "type": "object",
    "properties": {
        "is_approved": {"type": "boolean"},
        "score": {"type": "number", "minimum": 0},
        "notes": {"type": "array", "items": {"type": "object", "properties": {"line": {"type": "integer"}}}},
    },
    "required": ["is_approved"],
}


def asking(answer: Any) -> Flow:
    with Flow("f") as flow:
        step = flow.add(chat, prompt="Is it good?", config=Chat(model="openai/gpt", answer=answer))
        flow.output("answer", step.out.answer)
        flow.output("context", step.out.context)
    return flow


async def answered(answer: Any, *answers: Any) -> Any:
    with scripted(*answers):
        return (await asking(answer).run())["answer"]


async def test_an_answer_is_a_value_of_its_type() -> None:
    late = Verdict(is_approved=False, reasons=["late"])
    cases: list[Any] = [
        (Verdict, Verdict(is_approved=True), Verdict(is_approved=True)),
        (Verdict, '{"is_approved": false, "reasons": ["late"]}', late),
        (list[int], [1, 2], [1, 2]),  # what is no object is asked for in a field
        (Literal["yes", "no"], '{"answer": "yes"}', "yes"),
        ("integer", '{"answer": 3}', 3),
    ]
    for kind, answer, value in cases:
        assert await answered(kind, answer) == value


async def test_the_model_is_given_the_schema() -> None:
    with scripted(Verdict(is_approved=True), [Verdict(is_approved=True).model_dump()]) as script:
        await asking(Verdict).run()
        await asking(list[Verdict]).run()
    plain, listed = (request.schema or {} for request in script.requests)
    assert plain == json_schema(Verdict)
    assert [request.is_wrapped for request in script.requests] == [False, True]
    assert listed["required"] == ["answer"]
    assert listed["properties"]["answer"]["items"] == {"$ref": "#/$defs/Verdict"}
    assert listed["$defs"]["Verdict"]["title"] == "Verdict"


async def test_a_schema_of_a_document_is_checked_in_its_fields_and_the_turn_has_what_was_written() -> None:
    fits = {"is_approved": True, "score": 1.5, "notes": [{"line": 1}, {}], "more": None}
    with scripted(json.dumps(fits, indent=2)) as script:
        result = await asking(SCHEMA).run()
    assert result["answer"] == fits
    assert result["context"].message_history[-1].content == json.dumps(fits, indent=2)
    assert script.requests[0].schema == SCHEMA


async def test_an_answer_that_does_not_fit_tells_what_was_found() -> None:
    cases: list[Any] = [
        (Verdict, "[true]", "", "dict[str, Any]"),
        (Verdict, '{"is_approved": 1}', ".is_approved", "a valid boolean"),
        (Verdict, "{}", ".is_approved", "a value"),
        (list[int], "{}", "", "a value"),
        (list[int], '{"answer": ["1"]}', "[0]", "a valid integer"),
        (SCHEMA, '{"score": 1}', ".is_approved", "a value"),
        (SCHEMA, '{"is_approved": true, "score": -1}', ".score", "at least 0"),
        (SCHEMA, '{"is_approved": true, "notes": [{"line": "1"}]}', ".notes[0].line", "integer"),
    ]
    for answer, text, place, expected in cases:
        problem = await misfit(answer, text)
        assert (problem.code, problem.place) == ("DF2119", f"model 'openai/gpt': answer{place}")
        assert problem.expected == expected
        assert problem.hint == f"the model has answered {text!r}"
    for text, shown in (("Yes!", "'Yes!'"), ("x" * 1000, f"'{'x' * 88}... 824 characters ...{'x' * 88}'")):
        problem = await misfit(SCHEMA, text)
        assert (problem.code, problem.found) == ("DF2118", shown)


async def misfit(answer: Any, text: str) -> Diagnostic:
    """Return the problem of an answer that does not fit."""
    with pytest.raises(RunFailed) as caught:
        await answered(answer, text)
    assert isinstance(caught.value.__cause__, AnswerUnfit)
    return caught.value.__cause__.diagnostics[0]


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


def test_a_schema_that_answers_cannot_be_checked_by_is_refused() -> None:
    fields: list[tuple[Any, str]] = [
        ({"type": "text"}, "DF2121 properties.a.type"),
        ({"minimun": 1}, "DF2122 properties.a.minimun"),
        (1, "DF2121 properties.a"),
        ({"patternProperties": {"(": {}}}, "DF2121 properties.a.patternProperties"),
        ({"pattern": "("}, "DF2121 properties.a.pattern"),
        ({"multipleOf": 0}, "DF2121 properties.a.multipleOf"),
        ({"multipleOf": 1e400}, "DF2121 properties.a.multipleOf"),
        ({"maxItems": -1}, "DF2121 properties.a.maxItems"),
        ({"minimum": True}, "DF2121 properties.a.minimum"),
        ({"enum": []}, "DF2121 properties.a.enum"),
        ({"uniqueItems": 1}, "DF2121 properties.a.uniqueItems"),
        ({"$ref": "#/$defs/a"}, "DF2123 properties.a"),
        ({"$ref": "http://a/b"}, "DF2123 properties.a"),
        ({"$ref": "#"}, "DF2123 properties.a"),
        ({"$ref": 1}, "DF2121 properties.a.$ref"),
    ]
    cyclic = {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}
    cases: list[tuple[Any, str]] = [
        *(({"type": "object", "properties": {"a": field}}, problem) for field, problem in fields),
        ({"type": "object", "properties": []}, "DF2121 properties"),
        ({"type": "object", "required": "a"}, "DF2121 required"),
        ({"type": "object", "if": {}}, "DF2122 if"),
        ({"type": "object", "$defs": cyclic}, "DF2124"),
    ]
    for schema, problem in cases:
        with pytest.raises(ValueError) as caught:
            check_schema(schema)
        assert isinstance(caught.value, ArgumentInvalid)
        assert codes(caught.value) == [problem]
        with pytest.raises(ValidationError):
            Chat(answer=schema)


def test_a_bad_schema_of_a_document_is_a_problem_of_the_flow(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(
        "dataflow: 1\nnodes:\n  a:\n    type: agent.chat\n    values: {prompt: hi}\n"
        "    config: {answer: {type: object, properties: {n: {type: int}}}}\n",
        encoding="utf-8",
    )
    with pytest.raises(FlowInvalid, match=r"6:14: DF2121 a\.config\.answer: properties\.n\.type:"):
        Flow.load(file)


def test_what_a_reference_leads_to_is_checked() -> None:
    good = {"name": "a", "inner": [{"name": "b"}]}
    assert typed(TREE).read("a/b", '{"answer": {"name": "a", "inner": [{"name": "b"}]}}') == good
    for text, problem in (
        ('{"name": ""}', "DF2119 model 'a/b': answer.name"),
        ('{"name": "a", "inner": [{}]}', "DF2119 model 'a/b': answer.inner[0].name"),
        ('{"name": "a", "inner": [3]}', "DF2119 model 'a/b': answer.inner[0]"),
        ('{"name": "a", "more": 1}', "DF2119 model 'a/b': answer.more"),
        ("NaN", "DF2118 model 'a/b'"),
    ):
        with pytest.raises(AnswerUnfit) as caught:
            typed(TREE).read("a/b", f'{{"answer": {text}}}')
        assert codes(caught.value) == [problem]
    for levels in (490, 50_000):
        text = '{"name": "a", "inner": [' * levels + "]}" * levels
        with pytest.raises(AnswerUnfit, match=r"^DF211[89] "):
            typed(TREE).read("a/b", f'{{"answer": {text}}}')


def test_a_value_that_does_not_fit() -> None:
    either: dict[str, Any] = {"anyOf": [{"type": "null"}, {"properties": {"a": {"type": "null"}}}]}
    cases: list[tuple[dict[str, Any], Any, str, str]] = [
        ({"const": 1}, True, "", "1"),
        ({"enum": [1, 2], "const": 1}, 2, "", "1"),
        ({"enum": ["x", None]}, "y", "", '"x" or null'),
        ({"not": {"type": "null"}}, None, "", "what does not fit the schema of `not`"),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, 3, "", "null or string"),
        (either, {"a": 1}, ".a", "null"),
        ({"oneOf": [{}, {"type": "number"}]}, 3, "", "what fits one alternative alone, not 2"),
        ({"const": [1.0, {"a": 2}]}, [1, {"a": True}], "", '[1.0, {"a": 2}]'),
        ({"uniqueItems": True}, [1, True, 1.0], "", "items that differ"),
        ({"prefixItems": [{}], "items": False}, [1, 2], "[1]", "nothing"),
        *(({"multipleOf": 3}, value, "", "a multiple of 3") for value in (10**60, 10**400, float("inf"))),
        ({"items": {"multipleOf": 0.1}}, [0.3, 0.35], "[1]", "a multiple of 0.1"),
        ({"type": "string", "maxLength": 3}, "x" * 99, "", "at most 3 characters"),
    ]
    for schema, value, place, expected in cases:
        check_schema(schema)
        with pytest.raises(ValueMismatch) as caught:
            check_fit(value, schema)
        assert (caught.value.place, caught.value.expected) == (place, expected)
    assert caught.value.found == f"str '{'x' * 18}... 63 characters ...{'x' * 18}'"
    with pytest.raises(ValueMismatch) as caught:
        check_fit("2026-02-30", {"type": "string", "format": "date"})
    assert caught.value.found == "str '2026-02-30'"


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
