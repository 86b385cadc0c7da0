"""How many functions some work calls: what it costs, on a machine of any speed."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable

CALLS = ("call", "c_call")


def calls_in(work: Callable[[], object]) -> int:
    """Do some work and count the calls in it, those of functions written in C included."""
    counted = itertools.count()
    sys.setprofile(lambda _frame, event, _argument: event in CALLS and next(counted) and None)
    try:
        work()
    finally:
        sys.setprofile(None)
    return next(counted)
