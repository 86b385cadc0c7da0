"""The conditions of Clickweave: two operands and an operator over the variables of a run."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from enum import StrEnum
from math import inf, isfinite
from sys import float_info
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, assert_never

from pydantic import BaseModel, ConfigDict, Discriminator, Field

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Condition", "VariableSide", "holds", "number_in", "side_of", "written"]

#: The strings that Rust parses as floats; Python also accepts blanks around them, and `1_000`.
_FLOAT: Final = re.compile(
    r"[+-]?(?:inf|infinity|nan|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)", re.IGNORECASE
)
#: Below these limits Rust and Python write an exponent.
_SMALLEST: Final = 1e-5
_PYTHON_SMALLEST: Final = 1e-4
#: The difference from which numbers are unequal.
EPSILON: Final = float_info.epsilon


class Operator(StrEnum):
    """The comparison of the two sides of a condition."""

    EQUALS = "Equals"
    NOT_EQUALS = "NotEquals"
    GREATER_THAN = "GreaterThan"
    LESS_THAN = "LessThan"
    GREATER_THAN_OR_EQUAL = "GreaterThanOrEqual"
    LESS_THAN_OR_EQUAL = "LessThanOrEqual"
    CONTAINS = "Contains"
    NOT_CONTAINS = "NotContains"
    IS_EMPTY = "IsEmpty"
    IS_NOT_EMPTY = "IsNotEmpty"


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class StringLiteral(_Part):
    """A string."""

    type: Literal["String"]
    value: str


class NumberLiteral(_Part):
    """A number, always a float."""

    type: Literal["Number"]
    value: float = Field(allow_inf_nan=False)


class BoolLiteral(_Part):
    """A boolean."""

    type: Literal["Bool"]
    value: bool


class LiteralSide(_Part):
    """A literal side."""

    type: Literal["Literal"]
    value: Annotated[StringLiteral | NumberLiteral | BoolLiteral, Discriminator("type")]


class VariableSide(_Part):
    """A side that is a variable."""

    type: Literal["Variable"]
    name: str


Side = Annotated[LiteralSide | VariableSide, Discriminator("type")]


class Condition(_Part):
    """A condition of a file."""

    left: Side
    operator: Operator
    right: Side

    model_config = ConfigDict(strict=False, frozen=True)  # the operator is a string in files


def holds(condition: Condition, variables: Mapping[str, Any]) -> bool:
    """Return whether a condition holds; a variable that is not set is null."""
    left, right = side_of(condition.left, variables), side_of(condition.right, variables)
    match condition.operator:
        case Operator.EQUALS:
            return _equal(left, right)
        case Operator.NOT_EQUALS:
            return not _equal(left, right)
        case Operator.GREATER_THAN:
            return _compared(left, right, 1)
        case Operator.LESS_THAN:
            return _compared(left, right, -1)
        case Operator.GREATER_THAN_OR_EQUAL:
            return _compared(left, right, 1, 0)
        case Operator.LESS_THAN_OR_EQUAL:
            return _compared(left, right, -1, 0)
        case Operator.CONTAINS:
            return _text(right) in _text(left)
        case Operator.NOT_CONTAINS:
            return _text(right) not in _text(left)
        case Operator.IS_EMPTY:
            return _is_empty(left)
        case Operator.IS_NOT_EMPTY:
            return not _is_empty(left)
        case _:
            assert_never(condition.operator)


def side_of(side: LiteralSide | VariableSide, variables: Mapping[str, Any]) -> Any:
    """Return the value of a side."""
    return side.value.value if isinstance(side, LiteralSide) else variables.get(side.name)


def _equal(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is right
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    if isinstance(left, bool) or isinstance(right, bool):
        return _boolean(left) is not None and _boolean(left) == _boolean(right)
    if (isinstance(left, str) and number_of(right) is None) or (
        isinstance(right, str) and number_of(left) is None
    ):
        return False
    first, second = number_in(left), number_in(right)
    return first is not None and second is not None and (first == second or abs(first - second) < EPSILON)


def _boolean(value: Any) -> bool | None:
    """Return a boolean, also for the strings `true` and `false`; None for other values."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value) if isinstance(value, str) else None


def _compared(left: Any, right: Any, *signs: int) -> bool:
    """Return whether the order of two numbers is one of the signs; false for values that are not numbers."""
    first, second = number_in(left), number_in(right)
    if first is None or second is None or first != first or second != second:
        return False
    return (first > second) - (first < second) in signs


def _text(value: Any) -> str:
    """Return a string unchanged, and any other value as JSON without blanks."""
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    """Return JSON with numbers as Rust writes them; values come from JSON, so the recursion is limited."""
    match value:
        case bool() | None | str():
            return json.dumps(value, ensure_ascii=False)
        case int():
            return str(value)
        case float():
            return written(value)
        case list():
            return f"[{','.join(map(_json, value))}]"
        case dict():
            pairs = (f"{json.dumps(key, ensure_ascii=False)}:{_json(one)}" for key, one in value.items())
            return f"{{{','.join(pairs)}}}"
        case _:
            return json.dumps(str(value), ensure_ascii=False)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | list | dict) and not value)


def number_of(value: Any) -> float | None:
    """Return a number as a float, None for another value or a boolean."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:  # an integer beyond the range of floats
        return inf if value > 0 else -inf


def number_in(value: Any) -> float | None:
    """Return the number of a value or of a string with a number, else None."""
    if not isinstance(value, str):
        return number_of(value)
    return float(value) if _FLOAT.fullmatch(value) else None


def written(number: float) -> str:
    """Return a float as Rust writes it in JSON: 5.0, 0.00001, 1e-6, 1e16; null for infinity and NaN."""
    if not isfinite(number):
        return "null"
    if _SMALLEST <= abs(number) < _PYTHON_SMALLEST:
        return format(Decimal(repr(number)), "f")
    mantissa, e, exponent = repr(number).partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa
