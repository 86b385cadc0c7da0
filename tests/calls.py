"""How many Python functions some work calls: what it costs, on a machine of any speed."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable

__all__ = ["calls_in"]


def calls_in(work: Callable[[], object]) -> int:
    """Do some work and count the calls in it."""
    counted = itertools.count()
    sys.setprofile(lambda _frame, event, _argument: event == "call" and next(counted) and None)
    try:
        work()
    finally:
        sys.setprofile(None)
    return next(counted)
