"""F-C19: asks, inputs and typed answers are checked by the whole JSON Schema that their author wrote."""

from __future__ import annotations

import importlib
import json
from contextlib import nullcontext
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import AnswerRefused, ArgumentInvalid, Flow, FlowInvalid, NodeOutput, RunFailed, ValueMismatch
from dataflow.authoring import check_json, json_schema
from dataflow.core.config import type_of_schema
from dataflow.types.schemas import JsonSchema
from dataflow.types.validation import check_value, object_schema
from dataflow_agent import AnswerUnfit, Chat
from tests.support.codes import codes

TREE: Final = {
    "$ref": "#/$defs/n",
    "$defs": {"n": {"properties": {"in": {"$ref": "#/$defs/n"}}, "required": ["k"]}},
}
PATTERNS: Final = {"patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": False}
ONE_OF_TWO: Final = {"oneOf": [{"minimum": 2}, {"multipleOf": 2}]}
DRAFT_7: Final = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}
#: Schemas, with a value that fits, one that does not, and where the latter is wrong.
SCHEMAS: Final[dict[str, tuple[dict[str, Any], Any, Any, str]]] = {
    "required": ({"type": "object", "required": ["k"]}, {"k": 1}, {"z": 1}, ".k"),
    "properties": ({"properties": {"k": {"minimum": 3}}}, {"k": 3}, {"k": 1}, ".k"),
    "additionalProperties": ({"properties": {"k": {}}, "additionalProperties": False},
                             {"k": 1}, {"z": 1}, ".z"),
    "patternProperties": (PATTERNS, {"ab": 1}, {"b": 1}, ".b"),
    "unevaluatedProperties": ({"allOf": [{"properties": {"k": {}}}], "unevaluatedProperties": False},
                              {"k": 1}, {"z": 1}, ""),
    "propertyNames": ({"propertyNames": {"maxLength": 1}}, {"k": 1}, {"long": 1}, ""),
    "uniqueItems": ({"type": "array", "uniqueItems": True}, [1, True], [1, 1.0], ""),
    "contains": ({"contains": {"const": "a"}, "minContains": 2}, ["a", "a"], ["a"], ""),
    "prefixItems": ({"prefixItems": [{"type": "string"}]}, ["a"], [1], "[0]"),
    "items of draft 7": (DRAFT_7, ["a"], [1], "[0]"),
    "minItems": ({"type": "array", "minItems": 1}, [1], [], ""),
    "format": ({"type": "string", "format": "email"}, "a@b", "no address", ""),
    "format inside": ({"items": {"format": "date"}}, ["2026-01-02"], ["2026-02-30"], "[0]"),
    "not": ({"type": "integer", "not": {"const": 3}}, 4, 3, ""),
    "allOf": ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, 3, "text", ""),
    "anyOf": ({"anyOf": [{"type": "null"}, {"minLength": 2}]}, "ab", "a", ""),
    "oneOf": (ONE_OF_TWO, 3, 4, ""),
    "if, then": ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"c": 1}, {"a": 1}, ".b"),
    "dependentRequired": ({"dependentRequired": {"a": ["b"]}}, {"b": 1}, {"a": 1}, ""),
    "const": ({"const": [1.0, {"a": 2}]}, [1, {"a": 2}], [1, {"a": True}], ""),
    "minimum": ({"type": "integer", "minimum": 3}, 3, 1, ""),
    "multipleOf": ({"multipleOf": 0.1}, 0.3, 0.35, ""),
    "pattern": ({"type": "string", "pattern": "^a+$"}, "aa", "ab", ""),
    "enum of numbers": ({"enum": [1, 2]}, 1, True, ""),
    "enum of a bool": ({"enum": [True, "a"]}, True, 1, ""),
    "enum inside": ({"type": "array", "items": {"enum": [0, None]}}, [0], [False], "[0]"),
    "&& in a class": ({"pattern": "^[a&&b]+$"}, "a&b", "c", ""),
    "-- and ~~ in a class": ({"pattern": "^[~~a--b]+$"}, "~a-b", "c", ""),
    "a range up to -": ({"pattern": "^[!--]+$"}, "!#-", "a", ""),
    "a bracket in a class": ({"pattern": "^[[:a]]$"}, "[]", "a", ""),
    "reference": (TREE, {"k": 1, "in": {"k": 1}}, {"k": 1, "in": {}}, ".in.k"),
    "root": ({"properties": {"a": {"$ref": "#"}}, "required": ["k"]},
             {"k": 1, "a": {"k": 1}}, {"k": 1, "a": {}}, ".a.k"),
    "ignored": ({"type": "string", "x-order": 1, "nullable": True, "title": "T"}, "a", 1, ""),
}  # fmt: skip


def loaded(folder: Path, document: dict[str, Any]) -> Flow:
    path = folder / "flow.json"
    path.write_text(json.dumps({"dataflow": 1, **document}))
    return Flow.load(path)


def asking(folder: Path, schema: Any) -> Flow:
    ask = {"type": "control.ask", "config": {"prompt": "P", "type": schema}}
    return loaded(folder, {"nodes": {"a": ask}, "outputs": {"a": "a"}})


def taking(folder: Path, schema: Any) -> Flow:
    return loaded(folder, {"inputs": {"n": {"type": schema}}, "nodes": {}, "outputs": {"n": "$in.n"}})


async def test_asks_inputs_and_answers_are_checked_by_the_whole_schema(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for name, (schema, fits, misfit, place) in SCHEMAS.items():
        with subtests.test(name):
            paused = await (flow := asking(tmp_path, schema)).run()
            ask = paused.asks[0]
            assert ask.schema == schema
            with pytest.raises(AnswerRefused) as refused:
                await flow.resume(paused, {ask.id: misfit})
            assert codes(refused.value) == [f"DF0601 answer to 'a'{place}"]
            assert (await flow.resume(paused, {ask.id: fits}))["a"] == fits
            with pytest.raises(FlowInvalid) as invalid:
                await taking(tmp_path, schema).run(n=misfit)
            assert [one.code for one in invalid.value.problems] == ["DF0601"]
            assert (await taking(tmp_path, schema).run(n=fits))["n"] == fits
            typed = Chat(model="openai/m", answer=schema).typed
            assert typed is not None
            text = json.dumps({"answer": fits} if typed.is_wrapped else fits)
            assert typed.read("openai/m", text) == fits
            text = json.dumps({"answer": misfit} if typed.is_wrapped else misfit)
            with pytest.raises(AnswerUnfit):
                typed.read("openai/m", text)


#: Formats, with strings that have each of them, and others that pydantic would read.
FORMATTED: Final = {
    "date": (["2026-01-02"], ["1600000000", "20260102", "2026-01-02T00:00:00"]),
    "date-time": (["2026-01-02T00:00:00Z", "2026-01-02T00:00:00.5+02:00"],
                  ["1600000000", "2026-01-02", "2026-01-02T00:00:00", "2026-01-02 00:00:00Z"]),
    "time": (["12:00:00Z"], ["12:00", "3600"]),
    "duration": (["P1D", "PT1.5S", "P1Y2M", "P1W"], ["12:30", "1 day", "3600", "P", "P1DT"]),
    "uuid": ([f"{UUID(int=5)}"], [UUID(int=5).hex, UUID(int=5).urn]),
    "ipv6": (["::1"], ["::1%x"]),
}  # fmt: skip


@pytest.mark.parametrize("format", FORMATTED)
def test_strings_have_exactly_the_form_of_their_format(format: str) -> None:
    plain = {"type": "string", "format": format}
    fits, misfits = FORMATTED[format]
    for schema in (plain, {"not": {"not": plain}}, {"type": "array", "items": plain}):
        for text in (*fits, *misfits):
            with nullcontext() if text in fits else pytest.raises(ValueMismatch):
                check_json([text] if "items" in schema else text, type_of_schema(schema))


REFUSED: Final[list[tuple[Any, list[str]]]] = [
    ({"type": "strng"}, ["DF0423 type"]),
    ({"properties": []}, ["DF0421 properties"]),
    ({"minimun": 1, "format": "iban"}, ["DF0480 minimun", "DF0481 format"]),
    ({"items": {"format": "ibn"}}, ["DF0481 items.format"]),
    ({"type": "string", "pattern": "(?=a)a"}, ["DF0482 pattern"]),
    ({"pattern": "(a{1000}){1000}"}, ["DF0482 pattern"]),
    ({"pattern": "("}, ["DF0482 pattern"]),
    ({"pattern": "x" * 1001}, ["DF0482 pattern"]),
    ({**PATTERNS, "unevaluatedProperties": False}, ["DF0480 patternProperties"]),
    ({"properties": {"a": {"$ref": "https://example.org/a.json"}}}, ["DF0483 properties.a.$ref"]),
    ({"$ref": "#/$defs/a"}, ["DF0422 $ref"]),
    ({"$ref": "#/x-a", "x-a": {"minimun": 1}}, ["DF0422 $ref"]),
    ({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}}, ["DF0484"]),
    ({"$schema": "https://example.org/own", "type": "string"}, ["DF0485 $schema"]),
]


def test_a_schema_that_is_not_checked_in_full_is_refused(tmp_path: Path) -> None:
    for schema, expected in REFUSED:
        with pytest.raises(ArgumentInvalid) as caught:
            type_of_schema(schema)
        assert codes(caught.value) == expected
        for reading in (asking, taking):
            with pytest.raises(FlowInvalid) as refused:
                reading(tmp_path, schema)
            assert [one.code for one in refused.value.problems] == [one[:6] for one in expected]


def test_no_pattern_takes_long() -> None:
    """A pattern that is matched by trying would not end."""
    long = "a" * 90_000 + "b"
    names = {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}
    cases: list[tuple[dict[str, Any], Any]] = [
        ({"type": "string", "pattern": "^(a+)+$"}, long),
        ({"type": "string", "pattern": "^(a|a)*$"}, long),
        ({"type": "string", "pattern": "a"}, "a" * 100_001),
        (names, {long: 1}),
    ]
    for schema, value in cases:
        with pytest.raises(ValueMismatch):
            check_json(value, type_of_schema(schema))


def test_values_of_python_are_checked_as_the_json_that_they_are() -> None:
    day = type_of_schema({"type": "string", "format": "date", "pattern": "^2026"})
    assert check_value(date(2026, 1, 2), day) == date(2026, 1, 2)
    assert check_json("2026-01-02", day) == date(2026, 1, 2)
    several: Any = list[day]  # type: ignore[valid-type]
    for check, wrong in ((check_value, date(2025, 1, 2)), (check_json, "2025-01-02")):
        with pytest.raises(ValueMismatch):
            check(wrong, day)
        with pytest.raises(ValueMismatch):
            check([wrong], several)
    with pytest.raises(ValueMismatch):
        check_value({"k": object()}, type_of_schema(SCHEMAS["required"][0]))


def test_what_is_shown_and_written_is_the_schema_of_the_author() -> None:
    for schema, *_ in SCHEMAS.values():
        assert json_schema(type_of_schema(schema)) == schema
    ports = object_schema({"a": type_of_schema(TREE), "b": int}, ["a"])
    validator = importlib.import_module("jsonschema").Draft202012Validator(ports)
    assert [validator.is_valid({"a": {"k": 1, "in": value}}) for value in ({"k": 1}, {})] == [True, False]
    asked = Chat(
        answer={"items": {"$ref": "#/$defs/a"}, "not": {"$ref": "#/items"}, "$defs": {"a": {}}}
    ).typed
    assert asked is not None
    field = asked.asked["properties"]["answer"]
    assert (field["items"]["$ref"], field["not"]["$ref"]) == ("#/$defs/a", "#/properties/answer/items")


async def test_the_schema_that_a_node_gives_for_its_ask_is_checked() -> None:
    async def asks(inputs: dict[str, Any]) -> NodeOutput:
        return NodeOutput(status="paused", metadata={"ask": {"schema": {"minimum": inputs["least"]}}})

    async def run(least: Any) -> Any:
        from dataflow import Ports, node

        asker = node(ports=lambda _: Ports({"least": Any}, {"out": Any}))(asks)
        with Flow("f") as flow:
            flow.output("o", flow.add(asker, least=least).out)
        paused = await flow.run()
        with pytest.raises(AnswerRefused):
            await flow.resume(paused, {paused.asks[0].id: 2})
        return (await flow.resume(paused, {paused.asks[0].id: 3}))["o"]

    assert await run(3) == 3
    with pytest.raises(RunFailed) as failed:
        await run("three")
    assert failed.value.failures[0].code == "DF0421"


LEAVES: Final = st.one_of(
    st.fixed_dictionaries({}, optional={
        "type": st.sampled_from(["string", "integer", "array", "object"]), "minimum": st.integers(-2, 2),
        "maxLength": st.integers(0, 3), "pattern": st.sampled_from(["a", "^b"]), "uniqueItems": st.booleans(),
        "required": st.just(["a"]), "enum": st.just([1, "a", True]), "multipleOf": st.sampled_from([0.5, 2]),
    }),
)  # fmt: skip
VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0]) | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def nested(inner: Any) -> Any:
    several, fields = st.lists(inner, min_size=1, max_size=2), st.dictionaries(st.sampled_from("abc"), inner)
    return st.fixed_dictionaries({}, optional={
        "anyOf": several, "oneOf": several, "allOf": several, "not": inner, "items": inner,
        "properties": fields, "prefixItems": several, "additionalProperties": inner | st.booleans(),
        "patternProperties": st.dictionaries(st.sampled_from(["a", "^b"]), inner, max_size=1),
    })  # fmt: skip


@given(st.recursive(LEAVES, nested, max_leaves=5), VALUES)
def test_a_value_fits_exactly_if_the_library_alone_says_so(schema: Any, value: Any) -> None:
    usual = importlib.import_module("jsonschema").Draft202012Validator(schema)
    kind: Any = Annotated[Any, JsonSchema.of(schema)]
    try:
        check_json(value, kind)
    except ValueMismatch:
        assert not usual.is_valid(value)
    else:
        assert usual.is_valid(value)
