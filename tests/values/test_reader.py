"""What is read of stored values whose class was changed, and of data that no writer wrote (S12.3)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel, Field

from dataflow.errors import StoreError
from dataflow.values.classes import class_name, classes_of
from dataflow.values.reader import Reader


@dataclass
class Data:
    old: int
    new: list[int] = field(default_factory=list)
    constant: int = 7


@dataclass
class Must:
    old: int
    new: int


class Pair(NamedTuple):
    old: int
    new: int = 5


class Model(BaseModel):
    old: int
    new: list[int] = Field(default_factory=list)


class Color(Enum):
    RED = 1


def read(data: Any, *types: type) -> Any:
    blobs: dict[str, bytes] = {}
    return Reader(classes_of(types), blobs.__getitem__, "runs.db").read(data)


def problem(data: Any, *types: type) -> str:
    with pytest.raises(StoreError) as caught:
        read(data, *types)
    return caught.value.reason


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(Data, Data(1)), (Pair, Pair(1)), (Model, Model(old=1))],
    ids=["dataclass", "named tuple", "model"],
)
def test_a_field_that_was_added_has_its_default(kind: type, expected: object) -> None:
    found = read({"$": class_name(kind), "v": {"old": 1}}, kind)
    assert found == expected


def test_a_default_is_made_for_each_value() -> None:
    data = {"$": class_name(Data), "v": {"old": 1}}
    assert read(data, Data).new is not read(data, Data).new


def test_a_field_that_was_added_without_a_default_is_named() -> None:
    told = problem({"$": class_name(Must), "v": {"old": 1}}, Must)
    assert "class Must has a field 'new' now, which the stored value lacks" in told


@pytest.mark.parametrize("kind", [Data, Pair, Model])
def test_a_field_that_was_removed_is_named(kind: type) -> None:
    told = problem({"$": class_name(kind), "v": {"old": 1, "gone": 2}}, kind)
    assert f"class {kind.__name__} has no field 'gone' any more" in told


def test_a_member_that_was_removed_is_named_with_those_there_are() -> None:
    told = problem({"$": class_name(Color), "v": "BLUE"}, Color)
    assert "enum Color has no member 'BLUE' any more; choices: RED" in told


def test_a_class_that_no_type_names_is_not_read() -> None:
    assert "no type of the flow's ports names a class 'os:system'" in problem({"$": "os:system", "v": "true"})


def test_a_class_of_a_name_that_two_have_is_not_read() -> None:
    twin = dataclasses.make_dataclass("Must", [("old", int)], namespace={"__module__": __name__})
    assert "two classes of the flow" in problem({"$": class_name(Must), "v": {"old": 1}}, Must, twin)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"$": "tuple", "v": "ab"}, "a stored tuple holds str"),
        ({"$": "tuple", "v": [], "more": 1}, "something besides its value"),
        ({"$": "tuple"}, "something besides its value"),
        ({"$": "Decimal", "v": "one"}, "a stored Decimal is none"),
        ({"$": "set", "v": [[]]}, "a stored set is none: TypeError"),
        ({"$": "set", "v": [1, True]}, "an item is there twice"),
        ({"$": "dict", "v": [[1, 2], [1, 3]]}, "a key is there twice"),
        ({"$": "blob", "v": "0" * 64}, "a stored blob is none: KeyError"),
        ({"$": ["tuple"], "v": []}, "its kind is no text"),
        ({"$a": 1}, "the key '$a' is not escaped"),
        ({"$": "datetime", "v": ["2024-01-01T00:00:00", 0, "No/Where"]}, "ZoneInfoNotFoundError"),
        ({"$": "secret", "v": ["plain", [[0, 5]]]}, "there is no mark at 0"),
        ({1, 2}, "set is no JSON"),
    ],
    ids=str,
)
def test_what_no_writer_wrote_is_a_store_error(data: Any, reason: str) -> None:
    assert reason in problem(data)


def test_data_that_is_nested_without_end_is_a_store_error() -> None:
    data: Any = []
    data.append(data)
    assert problem(data) == "a value cannot be read: it is nested too deep"


def test_the_error_names_the_store() -> None:
    with pytest.raises(StoreError, match=r"^store runs.db: a value cannot be read: a stored UUID is none"):
        read({"$": "UUID", "v": "x"})
