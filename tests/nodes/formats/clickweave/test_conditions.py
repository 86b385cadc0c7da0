"""The conditions of Clickweave, by truth tables: what equals, orders, contains, and is empty."""

from __future__ import annotations

from typing import Any, Final

from dataflow_formats.clickweave.conditions import Condition, holds, number_in, written
from tests.nodes.formats.clickweave.workflows import condition, literal, variable

MISSING: Final = object()


def held(left: Any, operator: str, right: Any = "") -> bool:
    """Tell whether a variable that is `left` stands so to a literal."""
    variables = {} if left is MISSING else {"x": left}
    return holds(Condition.model_validate(condition(variable("x"), operator, literal(right))), variables)


#: A value, and what it comes to: Equals 5, Equals "5", Equals true, Equals "true", Contains 5, "5" and "".
TABLE: Final[list[tuple[Any, str]]] = [
    (5, "TTFFFTT"),
    (5.0, "TTFFTTT"),
    ("5", "TTFFFTT"),
    (" 5", "FFFFFTT"),
    ("5 items", "FFFFFTT"),
    (True, "FFTTFFT"),
    ("true", "FFTTFFT"),
    ("True", "FFFFFFT"),
    ([], "FFFFFFT"),
    ({}, "FFFFFFT"),
    (MISSING, "FFFFFFT"),
]


#: A value, and whether it is greater than, less than, at least and at most 4.
ORDER: Final[list[tuple[Any, str]]] = [
    (5, "TFTF"), ("5", "TFTF"), (4, "FFTT"), ("4.0", "FFTT"), (3.5, "FTFT"), ("-inf", "FTFT"),
    ("nan", "FFFF"), (" 5", "FFFF"), ("five", "FFFF"), (True, "FFFF"), (MISSING, "FFFF"), ([5], "FFFF"),
]  # fmt: skip


def test_values_compare_as_in_the_tables() -> None:
    asked = [("Equals", 5), ("Equals", "5"), ("Equals", True), ("Equals", "true")]
    asked += [("Contains", 5), ("Contains", "5"), ("Contains", "")]
    found = ["".join("FT"[held(left, operator, right)] for operator, right in asked) for left, _ in TABLE]
    assert found == [row for _, row in TABLE]
    for left, _ in TABLE:
        assert held(left, "NotEquals", 5) is not held(left, "Equals", 5)
        assert held(left, "NotContains", "5") is not held(left, "Contains", "5")
        assert held(left, "IsNotEmpty") is not held(left, "IsEmpty")
    orders = ("GreaterThan", "LessThan", "GreaterThanOrEqual", "LessThanOrEqual")
    found = ["".join("FT"[held(left, operator, 4)] for operator in orders) for left, _ in ORDER]
    assert found == [row for _, row in ORDER]


#: Numbers, and how they are written.
WRITTEN: Final = [
    (5.0, "5.0"), (0.1, "0.1"), (1e15, "1000000000000000.0"), (1e16, "1e16"), (1.5e-7, "1.5e-7"),
    (0.00001, "0.00001"), (-0.000025, "-0.000025"), (1e300, "1e300"), (float("nan"), "null"),
]  # fmt: skip


def test_nothing_is_empty_numbers_are_of_rust_and_what_is_no_text_is_searched_as_json() -> None:
    assert all(held(value, "IsEmpty") for value in ("", [], {}, None, MISSING))
    assert not any(held(value, "IsEmpty") for value in (0, False, 0.0, " ", "0", [None], {"a": None}))
    assert held(0.1 + 0.2, "Equals", 0.3)
    assert held(10**400, "GreaterThan", 1)
    assert not held(0.3001, "Equals", 0.3)
    numbers = ["1e3", "+5", ".5", "5.", "inf", "-Infinity", "NaN", "1E-2", "007"]
    others = ["", " 5", "5 ", "1_000", "0x1F", ".", "e5", "5e", "1,5", "٥", "+", "--5"]
    assert [text for text in (*numbers, *others) if number_in(text) is not None] == numbers
    assert [written(number) for number, _ in WRITTEN] == [text for _, text in WRITTEN]
    assert held([1, "a", None, True], "Contains", '[1,"a",null,true]')
    assert held({"a": [1.0]}, "Contains", '{"a":[1.0]}')
    assert held("übung", "Contains", "ü")
    assert held(None, "Contains", "null")
    assert held({"ä": 1}, "Contains", '{"ä":1}')
