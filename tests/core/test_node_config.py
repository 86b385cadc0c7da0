"""The config of a node, the ports that follow from it (S1.3), and the Python type of a JSON Schema."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from datetime import date
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal

import pytest

from dataflow import Config, FlowInvalid, Port, Ports, Signal
from dataflow.core.config import type_of_schema
from dataflow.core.nodetype import NodeType, derive
from dataflow.core.ports import MISSING, OutPort, PortKind, plain_type
from dataflow.core.signature import Shape
from dataflow.errors import ArgumentInvalid, ValueMismatch
from dataflow.types.agreement import agrees
from dataflow.types.validation import check_json, check_value
from tests.support.codes import codes


class Colour(Enum):
    RED = "red"


class Style(Config):
    words: int = 10


class Wanted(Config):
    path: str
    tags: tuple[str, ...] = ()


class Everything(Config):
    when: dt.date
    colour: Colour
    path: Path
    tags: frozenset[str]
    size: float


async def fetch(url: str, *more: str, limit: int = 3) -> str:
    return url


async def styled(text: str, style: Style) -> str:
    return text


async def wanting(wanted: Wanted) -> str:
    return wanted.path


async def defaulted(wanted: Wanted = Wanted(path="x")) -> str:  # noqa: B008 - frozen
    return wanted.path


async def everything(everything: Everything) -> None: ...


async def opened(style: Style, first: int = 0, *rest: int, **values: object) -> Any: ...


async def closed(style: Style) -> int:
    return style.words


def test_a_config_is_checked_or_made() -> None:
    cases: list[tuple[Callable[..., Any], Any, Config | None]] = [
        (fetch, MISSING, None),
        (styled, MISSING, Style()),
        (styled, {"words": 3}, Style(words=3)),
        (defaulted, MISSING, Wanted(path="x")),
        (defaulted, {"path": "y"}, Wanted(path="y")),
        (wanting, {"path": "y", "tags": ("a",)}, Wanted(path="y", tags=("a",))),
    ]
    for function, given, config in cases:
        assert derive(function).read_config(given) == (config, [])
    made = Style(words=3)
    assert derive(styled).read_config(made)[0] is made


def test_a_config_of_a_document_is_read_by_json_rules() -> None:
    given = {"when": "2026-01-02", "colour": "red", "path": "/x", "tags": ["a"], "size": 1}
    assert derive(everything).read_config(given, from_json=True) == (
        Everything(
            when=dt.date(2026, 1, 2), colour=Colour.RED, path=Path("/x"), tags=frozenset({"a"}), size=1.0
        ),
        [],
    )


def test_a_config_that_does_not_fit_is_a_problem() -> None:
    cases: list[tuple[Callable[..., Any], Any, bool, list[str]]] = [
        (fetch, {}, False, ["DF0414 .config"]),
        (fetch, Style(), False, ["DF0414 .config"]),
        (styled, Wanted(path="x"), False, ["DF0415 .config"]),
        (styled, 3, False, ["DF0415 .config"]),
        (styled, None, False, ["DF0415 .config"]),
        (wanting, MISSING, False, ["DF0416 .config.path"]),
        (wanting, {}, True, ["DF0416 .config.path"]),
        (
            wanting,
            {"path": "x", "tags": ["a", 3], "more": 1},
            True,
            ["DF0415 .config.tags.1", "DF0417 .config.more"],
        ),
        (styled, {"words": "many"}, False, ["DF0415 .config.words"]),
        (styled, {"words": "3"}, True, ["DF0415 .config.words"]),
    ]
    for function, given, from_json, problems in cases:
        config, found = derive(function).read_config(given, from_json)
        assert (config, codes(problem.problem for problem in found)) == (None, problems)


def configured(ports: Callable[[Any], Any], function: Callable[..., Any] = opened) -> NodeType:
    return derive(function, ports=ports).configured(Style())


def test_outputs_follow_from_the_config() -> None:
    given = OutPort("d", int, PortKind.DATA, same_as="a")
    made = configured(
        lambda _style: Ports(outputs={"a": int, "b": Port(str, conditional=True), "c": Signal, "d": given})
    )
    assert made.outputs == {
        "a": OutPort("a", int, PortKind.DATA), "b": OutPort("b", str, PortKind.DATA, conditional=True),
        "c": OutPort("c", Signal, PortKind.SIGNAL), "d": given,
    }  # fmt: skip
    assert made.shape is Shape.PORTS


def test_ports_that_cannot_be_are_refused() -> None:
    cases: list[tuple[Callable[[Any], Any], Callable[..., Any], str]] = [
        (lambda _style: Ports({"first": int}), opened, "DF0408"),
        (lambda _style: Ports({"rest": int}), opened, "DF0408"),
        (lambda _style: Ports({"style": int}), opened, "DF0408"),
        (lambda _style: Ports({"a": int, "b": int}), closed, "DF0413"),
        (lambda style: {"y": style}["x"], opened, "DF0411"),
        (lambda _style: {"inputs": {"a": int}}, opened, "DF0412"),
        (lambda _style: ({"a": int}, {}), opened, "DF0412"),
        (lambda _style: None, opened, "DF0412"),
    ]
    for ports, function, problem in cases:
        with pytest.raises(FlowInvalid) as caught:
            configured(ports, function)
        assert (caught.value.flow, codes(caught.value)) == (f"{__name__}:{function.__name__}", [problem])


TYPES: Final[list[tuple[Any, object]]] = [
    ("string", str), ("integer", int), ("number", float), ("boolean", bool), ("null", NoneType),
    ("array", list[Any]), ("object", dict[str, Any]), ({}, Any),
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
]  # fmt: skip


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
