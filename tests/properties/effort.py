"""How much of what is random or killed is played: a part, unless `DATAFLOW_DEEP` says otherwise.

`DATAFLOW_DEEP=1` plays the whole, as a nightly run does, `DATAFLOW_DEEP=10` ten times as much. With
`HYPOTHESIS_PROFILE=many`, and `--timeout=0`, it is 100,000 examples a property.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any, Final, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

PART: Final = 0.25
EFFORT: Final = float(os.environ.get("DATAFLOW_DEEP") or PART)
MANY: Final = os.environ.get("HYPOTHESIS_PROFILE") == "many"
#: Far more seconds than a flow takes on a busy machine; a run that hangs ends here.
LONGEST: Final = 60

T = TypeVar("T")
#: Draws a number below another: with Hypothesis, or at random and fast.
Below = Callable[[int], int]
chooses: Final = st.integers(0, 2**32 - 1).map(random.Random)


def in_part(whole: float, effort: float = EFFORT) -> int:
    """Return how many of so many are played, at least one."""
    return max(1, round(whole * effort))


def flows(count: int) -> settings:
    """Play so many flows, which take their time to be drawn."""
    return settings(max_examples=100_000 if MANY else count, suppress_health_check=list(HealthCheck))


@st.composite
def drawn(draw: st.DrawFn, make: Callable[[Below], T]) -> T:
    return make(lambda number: draw(st.integers(0, number - 1)))


def pace(choose: random.Random) -> Callable[[], int]:
    return lambda: choose.choice((0, 0, 1, 4))


def pick(below: Below, choices: Any) -> Any:
    return choices[below(len(choices))]
