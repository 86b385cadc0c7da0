"""Node types: a function with its ports, what it passes on, and its schema (S1.2, S1.3)."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Annotated, Any, Final, NamedTuple, TypeVar

import pytest
from pydantic import BaseModel

from dataflow import Config, Flow, FlowInvalid, each, merge, node
from dataflow.core.nodetype import derive, opaque_type
from tests.support.codes import codes


class Style(Config):
    words: int = 10


class WithOut(NamedTuple):
    out: int


async def with_all_mistakes(  # type: ignore[empty-body]
    a: Style,
    b: Style,
    c: Nowhere,  # type: ignore[name-defined]  # noqa: F821 - as users may
    **more: object,
) -> WithOut: ...


def test_what_is_not_a_node_function_is_refused_with_all_its_problems() -> None:
    class Unresolved(NamedTuple):
        a: Nowhere  # type: ignore[name-defined]  # noqa: F821 - as users may

    async def unresolved() -> int: ...  # type: ignore[empty-body]

    unresolved.__annotations__["return"] = Unresolved
    cases: list[tuple[Any, list[str]]] = [
        (len, ["DF0401 len"]),
        (3, ["DF0401 int"]),
        (unresolved, ["DF0405 unresolved"]),
        (
            with_all_mistakes,
            [
                "DF0404 with_all_mistakes.c",
                "DF0407 with_all_mistakes",
                "DF0406 with_all_mistakes",
                "DF0408 with_all_mistakes",
            ],
        ),
    ]
    for function, problems in cases:
        with pytest.raises(FlowInvalid) as caught:
            derive(function)
        assert (codes(caught.value), caught.value.what) == (problems, "node type")
    with pytest.raises(FlowInvalid) as caught:
        derive(max, call=max)
    assert codes(caught.value) == ["DF0405 max"]


async def test_an_opaque_type_is_known_by_its_id_only_and_never_called() -> None:
    made = opaque_type("shots.ocr")
    assert (made.id, made.is_opaque, made.inputs, made.outputs) == ("shots.ocr", True, {}, {})
    with pytest.raises(AssertionError):
        await made.call()


T = TypeVar("T")


async def passing(value: T, text: str = "") -> T:
    return value


async def annotated(value: Annotated[T, "as it is"]) -> Annotated[T, "as it was"]:
    return value


async def optional(value: T | None = None) -> T | None:
    return value


async def either(left: T, right: T) -> T:
    return left


async def last(*values: T) -> T:
    return values[-1]


async def listed(values: list[T]) -> list[T]:
    return values


def test_the_result_passes_on_the_one_required_input_of_its_variable() -> None:
    sources: dict[Any, str | None] = {
        passing: "value",
        annotated: "value",
        **dict.fromkeys((optional, either, last, listed)),
    }
    assert {function: derive(function).outputs["out"].same_as for function in sources} == sources


async def number() -> int:
    return 1


async def text() -> str:
    return ""


async def anything() -> Any:
    return 1


async def numbers() -> list[int]:
    return [1]


async def takes(text: str) -> str:
    return text


def test_its_type_is_that_of_the_source_of_the_input() -> None:
    cases: list[tuple[Callable[[Any], Any], str]] = [
        (lambda f: f.add(number).out, "int"), (lambda f: f.add(text).out, ""),
        (lambda f: f.add(anything).out, ""), (lambda _: 3, "Literal[3]"), (lambda _: "a", ""),
        (lambda f: each(f.add(numbers).out), "int"),
        (lambda f: merge(f.add(number).out, f.add(text).out), "int | str"),
    ]  # fmt: skip
    for source, found in cases:
        flow = Flow()
        flow.add(takes, text=flow.add(passing, value=source(flow)).out)
        problems = flow.check()
        assert codes(problems) == (["DF0308 takes.text"] if found else [])
        assert [one.found for one in problems] == ([found] if found else [])


VALIDATOR: Final = importlib.import_module("jsonschema").Draft202012Validator


class Leaf(BaseModel):
    size: int
    inner: list[Leaf] = []


def other_leaf() -> Any:
    class Leaf(BaseModel):
        text: str

    return Leaf


class Pair(BaseModel):
    left: Leaf
    right: Leaf


Other: Any = other_leaf()


class Open:
    """A class that has no JSON Schema."""


async def hung(first: Leaf, other: Other, pair: Pair, leaves: list[Leaf], more: Open | None = None) -> int:
    return first.size


GOOD: Final = {
    "first": {"size": 1, "inner": [{"size": 2}]},
    "other": {"text": "a"},
    "pair": {"left": {"size": 1}, "right": {"size": 2}},
    "leaves": [{"size": 3}],
}
BAD: Final[tuple[dict[str, Any], ...]] = (
    {"first": {"size": 1, "inner": [{"size": "2"}]}},
    {"other": {"size": 1}},
    {"pair": {"left": {"size": 1}, "right": {"text": "a"}}},
    {"leaves": [{}]},
    {"fifth": 1},
)


def test_the_schema_of_a_node_has_all_that_it_refers_to() -> None:
    schema = node(hung).json_schema()
    assert [*schema["properties"]] == ["first", "other", "pair", "leaves", "more"]
    assert len(schema["$defs"]) == 3  # of two classes with one name each has its own
    assert "$defs" not in str(schema["properties"]).replace("#/$defs/", "")
    VALIDATOR.check_schema(schema)
    assert VALIDATOR(schema).is_valid(GOOD)
    for part in BAD:
        assert not VALIDATOR(schema).is_valid({**GOOD, **part})
