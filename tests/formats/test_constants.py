"""Constants in documents."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from datetime import date
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from dataflow.errors import ValueMismatch
from dataflow.formats.native.values import as_json, constant_as_json


class Color(Enum):
    RED = "red"


class Word(StrEnum):
    YES = "yes"


class Size(BaseModel):
    width: int


@dataclass
class Point:
    x: int


@dataclass(eq=False)
class Stubborn:
    x: int

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compares to nothing")

    def __hash__(self) -> int:
        return 0


class Odd:
    def __repr__(self) -> str:
        raise RuntimeError("no words for it")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compares to nothing")

    def __hash__(self) -> int:
        return 0


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def mismatch(value: object) -> str:
    """Return the place of the part that JSON does not have, what is expected there and what was found."""
    with pytest.raises(ValueMismatch) as caught:
        as_json(value)
    error = caught.value
    return f"{error.place} {error.expected}: {error.found}".lstrip()


def test_a_value_that_json_does_not_have_is_refused_with_its_place() -> None:
    assert [
        mismatch(value)
        for value in (
            (1, 2),
            {"a": [0, {1}]},
            {1: "a"},
            {"a": {"b c": b"x"}},
            OrderedDict(a=1),
            Word.YES,
            object(),
            Odd(),
            "\ud800",
            {"\ud800": 1},
            10**1000,
            cyclic(),
        )
    ] == [
        "a JSON value: tuple (1, 2)",
        ".a[1] a JSON value: set {1}",
        "a string for a key: int 1",
        ".a['b c'] a JSON value: bytes b'x'",
        f"a JSON value: OrderedDict {OrderedDict(a=1)}",
        "a JSON value: Word <Word.YES: 'yes'>",
        "a JSON value: object",
        "a JSON value: Odd",
        "a string: half of a surrogate pair",
        "a string: half of a surrogate pair",
        "a number of at most 1000 digits: a longer one",
        "at most 100 levels of lists and mappings: more",
    ]


def test_a_value_is_written_by_the_json_rules_of_its_port() -> None:
    cases: list[tuple[object, object, object]] = [
        ((1, 2), tuple[int, int], [1, 2]),
        ({3}, set[int], [3]),
        (date(2020, 1, 2), date, "2020-01-02"),
        (Path("a/b"), Path, "a/b"),
        (Color.RED, Color, "red"),
        (Word.YES, Word, "yes"),
        (Size(width=1), Size, {"width": 1}),
        (Point(1), Point, {"x": 1}),
        ([date(2020, 1, 2)], list[date], ["2020-01-02"]),
        (date(2020, 1, 2), date | None, "2020-01-02"),
        (1j, complex, "1j"),
        (1, Any, 1),
    ]
    found = [constant_as_json(value, kind) for value, kind, _ in cases]
    assert found == [written for *_, written in cases]


def test_a_value_that_would_not_be_read_back_equal_is_refused() -> None:
    cases: list[tuple[object, object]] = [
        ((1, 2), Any),
        (date(2020, 1, 2), Any),
        (date(2020, 1, 2), str),
        ({"a": (1,)}, dict[str, Any]),
        (Odd(), Odd),
        (Stubborn(1), Stubborn),
        (object(), object),
        ((1,), "Unknown"),
        ((math.nan,), tuple[float, ...]),
    ]
    for value, kind in cases:
        with pytest.raises(ValueMismatch, match="DF0601"):
            constant_as_json(value, kind)
