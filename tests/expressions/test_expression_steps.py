"""The steps of expressions: nothing is gone through uncounted, and what is really there counts (S16.1)."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

import pytest

from dataflow.errors import ExpressionError
from dataflow.expressions.expression import Expression, Template


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


@pytest.mark.parametrize(
    ("source", "names", "least"),
    [
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
    ],
)
def test_what_is_gone_through_is_counted(source: str, names: dict[str, Any], least: int) -> None:
    assert steps_of(source, **names) >= least


def test_a_condition_tells_its_steps_too() -> None:
    taken: list[int] = []
    assert Expression("1.5 in a").holds({"a": [1.5] * MANY}, taken.append)
    assert taken == [len("1.5 in a") + MANY]


def test_comparing_lists_of_the_same_items_many_times_is_too_much() -> None:
    with pytest.raises(ExpressionError, match="takes too much: at most 10,000,000"):
        Expression("a == b").evaluate({"a": [ONE] * 1_000, "b": [OTHER] * 1_000})


@pytest.mark.parametrize(
    ("source", "names", "value"),
    [
        ("len(a)", {"a": LyingText("abc")}, 3),
        ("len(a)", {"a": LyingList([1, 2, 3])}, 3),
        ("a ~ 'c'", {"a": LyingText("ab")}, "abc"),
        ("lower(a)", {"a": LyingText("AB")}, "ab"),
        ("a + [3]", {"a": LyingList([1, 2])}, [1, 2, 3]),
    ],
)
def test_what_a_class_of_its_own_says_of_itself_does_not_count(
    source: str, names: dict[str, Any], value: Any
) -> None:
    found = Expression(source).evaluate(names)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("source", "names", "told"),
    [
        ("a", {"a": LyingText("a" * 1_000_001)}, "gives a text of 1,000,001 characters"),
        ("a ~ ''", {"a": LyingText("a" * 1_000_001)}, "makes too much"),
        ("upper(a)", {"a": LyingText("a" * 1_000_001)}, "makes too much"),
        ("a + a", {"a": LyingList([0] * 500_001)}, "makes too much"),
    ],
)
def test_no_bound_is_passed_by_a_class_of_its_own(source: str, names: dict[str, Any], told: str) -> None:
    with pytest.raises(ExpressionError, match=told):
        Expression(source).evaluate(names)


def test_a_template_writes_the_text_that_is_really_there() -> None:
    assert Template("<{{ a }}>").fill({"a": LyingText("abc")}) == "<abc>"
    with pytest.raises(ExpressionError, match="fills to more than 1,000,000 characters"):
        Template("{{ a }}").fill({"a": LyingText("a" * 1_000_001)})


@pytest.mark.parametrize(
    "value", [10**5_000, [10**5_000], {"a": 10**5_000}], ids=["alone", "list", "mapping"]
)
def test_an_integer_too_long_to_be_written_is_told(value: Any) -> None:
    with pytest.raises(ExpressionError, match=r"it has more than 4,300 digits$"):
        Template("{{ a }}").fill({"a": value})
