"""Expressions count the steps of all their work, by the real content of values (S16.1)."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

import pytest

from dataflow.errors import ExpressionError
from dataflow.expressions.expression import Expression


class LyingText(str):
    __slots__ = ()

    def __len__(self) -> int:
        return 1

    def __str__(self) -> str:
        return "lie"

    def lower(self) -> str:
        return "lie"


class LyingList(list[Any]):
    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Any]:
        return iter(["lie"])


def alike(items: int) -> tuple[list[Any], list[Any]]:
    """Make two lists that are equal and not flat, whose items are the same ones but for the last."""
    return [0] * items + [[1]], [0] * items + [[1]]


MANY: Final = 100_000
ONE, OTHER = alike(MANY)


def steps_of(source: str, **names: Any) -> int:
    taken: list[int] = []
    Expression(source).evaluate(names, taken.append)
    return sum(taken)


def test_all_work_is_counted() -> None:
    cases: list[tuple[str, dict[str, Any], int]] = [
        ("1 + 1", {}, len("1 + 1")),
        ("a == b", {"a": [[0]] * MANY, "b": [[0.0]] * MANY}, 10 * MANY),
        ("a == b", {"a": ONE, "b": OTHER}, MANY),
        ("a == b", {"a": "a" * MANY, "b": "a" * MANY}, MANY // 10),
        ("a < b", {"a": "a" * MANY, "b": "a" * MANY}, MANY // 10),
        ("'b' in a", {"a": "a" * MANY}, MANY // 10),
        ("a == b", {"a": 1 << 8 * MANY, "b": 1 << 8 * MANY}, MANY // 10),
        ("a == b", {"a": b"a" * MANY, "b": b"a" * MANY}, MANY // 10),
        ("a == b", {"a": ["a" * MANY] * 9, "b": ["a" * MANY] * 9}, 9 * MANY // 10),
        ("a == b", {"a": {"a" * MANY: 1}, "b": {"a" * MANY: 1}}, MANY // 10),
        ("a in b", {"a": "a" * MANY, "b": ["a" * MANY] * 9}, 9 * MANY // 10),
        ("1 in a", {"a": [0] * MANY}, MANY),
        ("'b' in a", {"a": LyingText("a" * MANY)}, MANY // 10),
        ("str(a)", {"a": Decimal(f"1{'0' * MANY}")}, MANY),
        ("lower(a)", {"a": LyingText("A" * MANY)}, MANY),
    ]
    counted = [steps_of(source, **names) for source, names, _ in cases]
    least = [steps for *_, steps in cases]
    assert [max(pair) for pair in zip(counted, least, strict=True)] == counted


def test_comparing_lists_of_the_same_items_many_times_is_too_much() -> None:
    with pytest.raises(ExpressionError, match="DF0721"):
        Expression("a == b").evaluate({"a": [ONE] * 1_000, "b": [OTHER] * 1_000})


def test_overridden_methods_cannot_exceed_a_limit() -> None:
    for source, value in {
        "a": LyingText("a" * 1_000_001),
        "a ~ ''": LyingText("a" * 1_000_001),
        "upper(a)": LyingText("a" * 1_000_001),
        "a + a": LyingList([0] * 500_001),
    }.items():
        with pytest.raises(ExpressionError, match="DF0720"):
            Expression(source).evaluate({"a": value})
