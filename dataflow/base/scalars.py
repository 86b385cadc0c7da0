"""Numbers of other libraries, which are numbers by protocol, such as `numpy.int64`."""

from __future__ import annotations

import math
from numbers import Complex, Integral, Real
from operator import index
from types import NoneType
from typing import Any, Final

__all__ = ["finite_number", "number_type", "plain_number"]

_OWN: Final = frozenset({bool, int, float, complex})
_OTHERS: Final = _OWN | {NoneType, str, bytes, list, tuple, dict}  # which are frequent
#: What numpy registers as an integer, and is none.
_SPAN: Final = "timedelta64"


def plain_number(value: Any) -> bool | int | float | complex | None:
    """Return the number of Python that a scalar of another library is; None for any other value.

    An integer is one by `numbers.Integral` and `__index__`; a bool, a float and a complex number by `item()`
    of a scalar without dimensions. No library is imported.
    """
    kind: Any = type(value)
    if kind in _OTHERS:
        return None
    if issubclass(kind, int):
        return None
    if issubclass(kind, Integral) and kind.__name__ != _SPAN:
        return index(value)
    if not callable(getattr(kind, "item", None)) or getattr(value, "shape", None) != ():
        return None
    number = value.item()
    if type(number) in _OWN:
        return number  # type: ignore[no-any-return]  # as just checked
    return float(number) if isinstance(number, Real) else None  # of more digits than a float has


def number_type(kind: type) -> type | None:
    """Return the type of number of Python that scalars of another library's class are; None for others."""
    if kind in _OWN or not any(hasattr(kind, name) for name in ("__index__", "item")):
        return None
    if issubclass(kind, Complex) and kind.__name__ != _SPAN:
        return int if issubclass(kind, Integral) else float if issubclass(kind, Real) else complex
    return bool if (kind.__module__, kind.__name__.rstrip("_")) == ("numpy", "bool") else None


def finite_number(text: str) -> float:
    """Read a number in decimal notation; raises ValueError for one that only infinity could stand for."""
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number
