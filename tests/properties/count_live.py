"""Live through a part of 600 sessions, and count what has befallen them.

`python -m tests.properties.count_live [how many]` prints the figures, and fails if something is rare.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Final

from tests.properties.figures import asked, counted, shown, verdict
from tests.properties.live_sessions import UndecidedError, live_through, script_of
from tests.properties.random_flows import ASKING, sample

SESSIONS: Final = 600
#: Each of these has befallen the sessions so often at least, fewer of them in their part; and so many percent
#: are decided by the rules.
LEAST: Final = 20
HELD: Final = 98
BEFALLS: Final = (
    "a failure", "a firing inside that stood", "a firing of the root that stood", "a flow node",
    "a get was given up", "a loop", "a map", "a node got another function", "a race that may stop nodes",
    "a value was watched", "an update overtook", "answered", "got a failed", "got a skip", "got a value",
    "got an earlier revision", "paused",
)  # fmt: skip


async def count_befallen(seeds: Iterable[int]) -> Counter[str]:
    """Live through the sessions of these seeds, and count what has befallen them."""
    found = Counter[str]()
    for seed in seeds:
        choose = random.Random(seed)
        program = sample(seed, most=15, weights=ASKING)
        with shown(seed, program):
            try:
                found += await live_through(program, script_of(choose.randrange, 8), choose)
                found["held"] += 1
            except* UndecidedError:
                found["left to time"] += 1
    return found


def main() -> int:
    """Print the figures; 1 if something is rare."""
    sessions = asked(SESSIONS)
    found = counted("sessions", sessions, count_befallen)
    rare = [name for name in BEFALLS if found[name] < LEAST * min(1, sessions / SESSIONS)]
    return verdict(rare, is_enough=100 * found["held"] >= HELD * sessions)


if __name__ == "__main__":
    sys.exit(main())
