"""Configs and constants as text by which they can be compared (S11.4)."""

from __future__ import annotations

import enum
from collections import namedtuple
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from dataflow.expressions.expression import ExpressionOf
from dataflow.secrets.secret import Secret
from dataflow.values.canonical import canonical_text
from tests.support.quick_nodes import Adder, Set, inc


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Size(enum.IntEnum):
    SMALL = 1


@dataclass
class Point:
    x: int
    y: Any = None


@dataclass
class Place:
    x: int
    y: Any = None


Pair = namedtuple("Pair", "x y")  # noqa: PYI024 - one without types

DIFFERENT: list[Any] = [
    None, True, 1, 1.0, 1j, "1", b"1", bytearray(b"1"), (1,), [1], {1}, frozenset({1}), {1: 1}, {"1": 1}, "",
    [], (), {}, set(), [[]], [[], []], "a, b", ["a", "b"], ["a, b"], Decimal(1), Decimal("1.0"), Path("a"),
    date(2020, 1, 1), timedelta(1), Colour.RED, Colour.BLUE, Size.SMALL, Point(1), Place(1), Point(1, [2]),
    Pair(1, None), Set(by=1), Set(by=2), inc, int, -0.0, 0.0, float("inf"), "\ud800",
    ExpressionOf("value", "value > 1").compiled(), ExpressionOf("value", "value > 2").compiled(),
]  # fmt: skip


def test_values_have_one_text_only_if_they_are_equal() -> None:
    told = [canonical_text(value) for value in DIFFERENT]
    assert [text for text in told if told.count(text) > 1] == []
    cases: list[tuple[object, object]] = [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({0, 8}, {8, 0}),  # which it lists in the order of insertion
        (Point(1, {"b": 1, "a": 2}), Point(1, {"a": 2, "b": 1})),
        (float("nan"), float("nan")),
        (Adder(1), Adder(1)),
        (Secret("KEY", "of no concern"), Secret("KEY", "of none")),
        ([DIFFERENT] * 2, [DIFFERENT, [*DIFFERENT]]),
    ]
    for one, other in cases:
        assert canonical_text(one) == canonical_text(other), one
