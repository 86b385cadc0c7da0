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


def test_plain_json_is_copied() -> None:
    value: dict[str, Any] = {"a": [1, 2.5, None, True, "é", math.inf, {"": []}]}
    copied = as_json(value)
    assert copied == value
    assert copied["a"] is not value["a"]


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ((1, 2), "expected a JSON value, found tuple (1, 2)"),
        ({"a": [0, {1}]}, ".a[1]: expected a JSON value, found set {1}"),
        ({1: "a"}, "expected text for a key, found int 1"),
        ({"a": {"b c": b"x"}}, ".a['b c']: expected a JSON value, found bytes b'x'"),
        (OrderedDict(a=1), "found OrderedDict"),
        (Word.YES, "found Word <Word.YES: 'yes'>"),
        (object(), "expected a JSON value, found object"),
        (Odd(), "expected a JSON value, found Odd"),
        ("\ud800", "expected text, found half of a surrogate pair"),
        ({"\ud800": 1}, "expected text, found half of a surrogate pair"),
        (10**1000, "expected a number of at most 1000 digits, found a longer one"),
        (cyclic(), "expected at most 100 levels of lists and mappings, found more"),
    ],
)
def test_what_json_cannot_carry_is_refused_with_its_place(value: object, words: str) -> None:
    with pytest.raises(ValueMismatch) as caught:
        as_json(value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("value", "kind", "written"),
    [
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
    ],
)
def test_a_value_is_written_by_the_json_rules_of_its_port(
    value: object, kind: object, written: object
) -> None:
    assert constant_as_json(value, kind) == written


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ((1, 2), Any),
        (date(2020, 1, 2), Any),
        (date(2020, 1, 2), str),
        ({"a": (1,)}, dict[str, Any]),
        (Odd(), Odd),
        (Stubborn(1), Stubborn),
        (object(), object),
        ((1,), "Unknown"),
        ((math.nan,), tuple[float, ...]),
    ],
)
def test_a_value_that_would_not_come_back_the_same_is_refused(value: object, kind: object) -> None:
    with pytest.raises(ValueMismatch, match="DF0601"):
        constant_as_json(value, kind)
