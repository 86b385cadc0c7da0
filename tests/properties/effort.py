"""How much of what is random or killed is played: a part, unless `DATAFLOW_DEEP` says otherwise.

`DATAFLOW_DEEP=1` plays the whole, as a nightly run does, `DATAFLOW_DEEP=10` ten times as much.
"""

from __future__ import annotations

import os
from typing import Final

__all__ = ["EFFORT", "in_part"]

PART: Final = 0.25
EFFORT: Final = float(os.environ.get("DATAFLOW_DEEP") or PART)


def in_part(whole: float, effort: float = EFFORT) -> int:
    """Return how many of so many are played, at least one."""
    return max(1, round(whole * effort))
