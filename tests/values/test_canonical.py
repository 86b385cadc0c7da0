"""Values as text by which they are compared (S11.4), and digests of third-party types (S13.2)."""

from __future__ import annotations

import enum
import io
from collections import namedtuple
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from dataflow import digester
from dataflow.expressions.expression import ExpressionOf
from dataflow.secrets.secret import Secret
from dataflow.values.canonical import canonical_text
from dataflow.values.digests import NoDigest, digest
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


class Image(io.BytesIO):
    """Of a class written in C, with a number of its own."""

    quality = 1


class Known(Enum):
    A = 1


@pytest.fixture(name="kind")
def another_image() -> type[Image]:
    return type("Another", (Image,), {})


def test_what_is_registered_counts(kind: type[Image]) -> None:
    with pytest.raises(NoDigest, match="BytesIO"):
        digest([io.BytesIO()])
    digester(kind, lambda image: (image.quality, image.getvalue()))
    assert digest([kind(b"a")]) == digest([kind(b"a")]) != digest([kind(b"b")])

    @digester(kind)
    def told(image: Image) -> bytes:
        return image.getvalue()

    assert digest(kind(b"a")) != digest(told(kind(b"a")))
    digester(kind, lambda _: 1)
    before = digest(kind())
    digester(kind, lambda _: 2)
    assert digest(kind()) != before


def test_only_classes_without_a_fixed_digest_are_registered(kind: type[Image]) -> None:
    for known in (int, list, dict, object, type, Enum):
        with pytest.raises(TypeError, match="DF0643"):
            digester(known, repr)
    before = digest(Known.A)
    digester(Known, lambda _: 1)
    assert digest(Known.A) != before
    for wrong in (5, "a.b", list[int], None):
        with pytest.raises(TypeError, match=r"DF0642 .*expected a class"):
            digester(wrong, repr)  # type: ignore[arg-type]

    async def told(_: Image) -> int:
        return 1

    wrongs: list[Any] = [5, told]
    for wrong in wrongs:
        with pytest.raises(TypeError, match=r"DF0642 .*expected a function"):
            digester(kind, wrong)
        with pytest.raises(TypeError, match=r"DF0642 .*expected a function"):
            digester(kind)(wrong)
