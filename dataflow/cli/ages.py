"""Ages on the command line: a number and a unit, as in 30d (S20)."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from dataflow.cli.exits import ExitCode, Problem, Refused

__all__ = ["read_age"]

_AGE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def read_age(option: str, text: str, *, unit: str = "") -> timedelta:
    """Read an age, in this unit where it names none; raises Refused, as a usage error."""
    found = _AGE.fullmatch(text.strip())
    try:
        if found is not None and (found[2] or unit):
            return timedelta(**{_UNITS[found[2] or unit]: float(found[1])})
    except OverflowError:
        pass
    problem = f"{option} {text}: write a number and a unit, as in 30d, 12h, 90m or 2w"
    raise Refused([Problem(problem)], ExitCode.USAGE)
