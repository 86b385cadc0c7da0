"""Maximum sizes that an environment variable can change for the whole process."""

from __future__ import annotations

import os
from typing import Final

from dataflow.diagnostics.arguments import ARGUMENT_INVALID
from dataflow.errors import ArgumentInvalid

__all__ = ["PREFIX", "maximum"]

PREFIX: Final = "DATAFLOW_MAX_"


def maximum(name: str, default: int) -> int:
    """Return the value of the environment variable `DATAFLOW_MAX_<name>`, or the default if it is not set.

    Assign it to a constant of a module, so that a process has one value. Raises ArgumentInvalid unless the
    variable is an integer of 1 or more with at most 18 digits; underscores may separate digits.
    """
    variable = f"{PREFIX}{name}"
    written = os.environ.get(variable)
    if written is None:
        return default
    digits = written.strip().replace("_", "")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 18 or int(digits) < 1:
        expected = "an integer of 1 or more, of at most 18 digits"
        raise ArgumentInvalid(ARGUMENT_INVALID(name=variable, expected=expected, found=repr(written[:40])))
    return int(digits)
