"""Schemas of several ports: whole in themselves, whatever classes the ports refer to."""

from __future__ import annotations

import importlib
from typing import Any, Final

from pydantic import BaseModel

from dataflow import node

VALIDATOR: Final = importlib.import_module("jsonschema").Draft202012Validator


class Leaf(BaseModel):
    size: int
    inner: list[Leaf] = []


def other_leaf() -> Any:
    """Make another class of the same name."""

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
