"""Numbers as Clickweave knows them: what of a text is one, and how one is written."""

from __future__ import annotations

import re
from decimal import Decimal
from math import inf, isfinite
from typing import Any, Final

__all__ = ["number_in", "number_of", "written"]

#: The texts that Rust's parser of floats takes; Python's also takes blanks around them, and `1_000`.
_FLOAT: Final = re.compile(
    r"[+-]?(?:inf|infinity|nan|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)", re.IGNORECASE
)
#: Below it Rust writes an exponent; Python does already below ten times as much.
_SMALLEST: Final = 1e-5
_PYTHON_SMALLEST: Final = 1e-4


def number_of(value: Any) -> float | None:
    """Return a number as a float, None for what is none; a boolean is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:  # an integer that no float reaches
        return inf if value > 0 else -inf


def number_in(value: Any) -> float | None:
    """Return the number that a value is, or that is written in a text."""
    if not isinstance(value, str):
        return number_of(value)
    return float(value) if _FLOAT.fullmatch(value) else None


def written(number: float) -> str:
    """Write a float as Rust does in JSON: 5.0, 0.00001, 1e-6, 1e16; null for what JSON has no number for."""
    if not isfinite(number):
        return "null"
    if _SMALLEST <= abs(number) < _PYTHON_SMALLEST:
        return format(Decimal(repr(number)), "f")
    mantissa, e, exponent = repr(number).partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa
