"""What is read of stored values whose class was changed, and of data that no writer wrote (S12.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel, Field

from dataflow import Diagnostic
from dataflow.errors import StoreError
from dataflow.values.classes import class_name, classes_of
from dataflow.values.reader import Reader


@dataclass
class Data:
    old: int
    new: list[int] = field(default_factory=list)
    constant: int = 7


class Pair(NamedTuple):
    old: int
    new: int = 5


class Model(BaseModel):
    old: int
    new: list[int] = Field(default_factory=list)


def read(data: Any, *types: type) -> Any:
    blobs: dict[str, bytes] = {}
    return Reader(classes_of(types), blobs.__getitem__, "runs.db").read(data)


def problem(data: Any, *types: type) -> Diagnostic:
    with pytest.raises(StoreError) as caught:
        read(data, *types)
    return caught.value.diagnostics[0]


def test_fields_that_were_added_and_removed_are_known() -> None:
    for kind, expected in ((Data, Data(1)), (Pair, Pair(1)), (Model, Model(old=1))):
        assert read({"$": class_name(kind), "v": {"old": 1}}, kind) == expected
    data = {"$": class_name(Data), "v": {"old": 1}}
    assert read(data, Data).new is not read(data, Data).new
    for kind in (Data, Pair, Model):
        found = problem({"$": class_name(kind), "v": {"old": 1, "gone": 2}}, kind)
        assert (found.code, dict(found.details)["name"]) == ("DF0632", "gone")


def test_malformed_data_is_a_store_error() -> None:
    """Also `tests/messages/values.py`."""
    data = {
        "a value without its content": ({"$": "tuple"}, "DF0630"),
        "an item without a hash": ({"$": "set", "v": [[]]}, "DF0631"),
        "a missing blob": ({"$": "blob", "v": "0" * 64}, "DF0631"),
        "an unknown zone": ({"$": "datetime", "v": ["2024-01-01T00:00:00", 0, "No/Where"]}, "DF0631"),
    }
    assert {name: problem(given).code for name, (given, _) in data.items()} == {
        name: code for name, (_, code) in data.items()
    }
