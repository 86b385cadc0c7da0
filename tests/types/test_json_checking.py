"""Values from JSON are turned into their type where they enter (S1.7)."""

from __future__ import annotations

import collections.abc as abc
import datetime as dt
import uuid
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from annotated_types import Gt, MinLen
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, field_validator

from dataflow.errors import ValueMismatch
from dataflow.types.validation import check_json, json_schema
from tests.types import example_types as ex


class Order(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    count: int = 1

    @field_validator("name")
    @classmethod
    def _not_empty(cls, name: str) -> str:
        if not name:
            raise ValueError("an order has a name")
        return name


class Watched:
    pass


@dataclass
class Holder:
    watched: Watched


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)
DEEP: list[Any] = []
for _ in range(500):
    DEEP = [DEEP]
DEEPER: list[Any] = []
for _ in range(100_000):
    DEEPER = [DEEPER]

RIGHT: list[tuple[object, object, object]] = [
    (0, int, 0),
    (None, int | None, None),
    (1, float, 1.0),
    (float("inf"), float, float("inf")),
    ([1, 2], tuple[int, ...], (1, 2)),
    ([1, "a"], tuple[int, str], (1, "a")),
    ([1, 1], set[int], {1}),
    ({"1": 2}, dict[int, int], {1: 2}),
    ("2024-01-01", dt.date, dt.date(2024, 1, 1)),
    ("00000000-0000-0000-0000-000000000001", uuid.UUID, uuid.UUID(int=1)),
    ("red", ex.Color, ex.Color.RED),
    ({"name": "tea"}, Order, Order(name="tea")),
    ({"name": "John"}, ex.Person, ex.Person("John")),
    ([1, 2], ex.Point, ex.Point(1, 2)),
    ({"title": "a"}, ex.Movie, {"title": "a"}),
    ({"value": 1}, ex.Unresolved, {"value": 1}),
    (5, Annotated[int, Gt(0)], 5),
    (5, Annotated[int, ["cannot be hashed"]], 5),
    # iterables arrive as lists, at any depth
    ([1], abc.Iterable[int], [1]),
    ([1], abc.Iterable[int] | None, [1]),
    ([1], Annotated[abc.Iterable[int], MinLen(1)], [1]),
    ({"a": [[1]]}, dict[str, list[abc.Iterable[int]]], {"a": [[1]]}),
    ([[1]], tuple[abc.Iterable[int], ...], ([1],)),
    # what pydantic has no adapter for is checked as it is
    (1, "str", 1),
    (1, ex.Item, 1),
    ([1], list["Nowhere"], [1]),  # type: ignore[name-defined]  # noqa: F821 - what is tested
    # what pydantic cannot read is checked as it is
    ("\ud800", str, "\ud800"),
    (DEEP, list[Any], DEEP),
    (DEEPER[0], list, DEEPER[0]),
]

#: Values, the expected types, and place, expected and found of the mismatch.
WRONG: list[tuple[object, object, str]] = [
    ("1", int, "int <- str '1'"),
    (1.0, int, "int <- float 1.0"),
    (True, int, "int <- bool True"),
    ("soon", dt.date, "date <- str 'soon'"),
    ("q", int | float, "int | float <- str 'q'"),
    ([1, "a"], list[int], "[1] a valid integer <- str 'a'"),
    ([1, "a"], list[int] | None, "[1] a valid integer <- str 'a'"),
    ([1], tuple[int, int], "[1] a value <- nothing"),
    ({"a b": "c"}, dict[str, int], "['a b'] a valid integer <- str 'c'"),
    ({}, Order, ".name a value <- nothing"),
    ([{"name": "tea", "count": "2"}], list[Order], "[0].count a valid integer <- str '2'"),
    ({"name": "tea", "size": 1}, Order, ".size no such field <-"),
    ({"name": ""}, Order, ".name a valid value (an order has a name) <- str ''"),
    (5, Order, "Order <- int 5"),
    (-1, Annotated[int, Gt(0)], "int (greater than 0) <- int -1"),
    ([-1], list[Annotated[int, Gt(0)]], "[0] greater than 0 <- int -1"),
    ([], Annotated[list[int], MinLen(1)], "list[int] (list should have at least 1 item"),
    ({"watched": {}}, Holder, "Holder <- dict {'watched': {}}"),
    ({}, ex.Named, "Named <- dict {}"),
    ([1], abc.Iterator[int], "Iterator[int] <- list [1]"),
    ([1, "2"], abc.Iterable[int], "[1] a valid integer <- str '2'"),
    (dt.date(2024, 1, 1), dt.date, "date as JSON <- date datetime.date(2024, 1, 1)"),
    ({1}, set[int], "set[int] as JSON <- set {1}"),
    (CIRCLE, list[Any], "list[Any] as JSON <- list [["),
]


def test_a_json_value_is_converted_to_its_type() -> None:
    for value, expected, result in RIGHT:
        found = check_json(value, expected)
        assert type(found) is type(result)
        assert found is result or found == result


def test_a_json_value_of_another_type_is_refused() -> None:
    for value, expected, fields in WRONG:
        with pytest.raises(ValueMismatch, match="DF0601") as caught:
            check_json(value, expected)
        error = caught.value
        assert f"{error.place} {error.expected} <- {error.found}".strip().startswith(fields)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=8,
)


def test_a_type_has_a_json_schema_or_an_empty_one() -> None:
    integers = {"type": "array", "items": {"type": "integer"}}
    schemas: list[tuple[object, object]] = [
        (int, {"type": "integer"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (abc.Iterable[int], integers),
        (int | abc.Callable[[], int], {"type": "integer"}),  # JSON cannot represent the alternative
    ]
    without = [Any, object, abc.Callable[[], int], abc.Iterator[int], Watched, ex.Named, "int"]
    for expected, schema in [*schemas, *((one, {}) for one in without)]:
        assert json_schema(expected) == schema
    model: Any = json_schema(ex.Model)
    assert model["properties"] == {"x": {"title": "X", "type": "integer"}}
    assert model["required"] == ["x"]
