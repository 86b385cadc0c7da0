"""Constants in documents."""

from __future__ import annotations

import math
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
    cases: list[tuple[object, str]] = [
        ((1, 2), "a JSON value: tuple (1, 2)"),
        ({"a": [0, {1}]}, ".a[1] a JSON value: set {1}"),
        ({1: "a"}, "a string for a key: int 1"),
        ({"a": {"b c": b"x"}}, ".a['b c'] a JSON value: bytes b'x'"),
        (Word.YES, "a JSON value: Word <Word.YES: 'yes'>"),
        (object(), "a JSON value: object"),
        ("\ud800", "a string: half of a surrogate pair"),
        ({"\ud800": 1}, "a string: half of a surrogate pair"),
        (10**1000, "a number of at most 1000 digits: a longer one"),
        (cyclic(), "at most 100 levels of lists and mappings: more"),
    ]
    assert [mismatch(value) for value, _ in cases] == [found for _, found in cases]


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
        (object(), object),
        ((1,), "Unknown"),
        ((math.nan,), tuple[float, ...]),
    ]
    for value, kind in cases:
        with pytest.raises(ValueMismatch, match="DF0601"):
            constant_as_json(value, kind)
