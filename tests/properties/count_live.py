"""Live through a part of 600 sessions, and count what has befallen them.

`python -m tests.properties.count_live [how many]` prints the figures, and fails if something is rare.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any, Final

import anyio

from tests.properties.effort import in_part
from tests.properties.live_sessions import Step, UndecidedError, live_through
from tests.properties.random_flows import ASKING, sample

__all__ = ["BEFALLS", "count_befallen"]

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
_VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "x": (0, 1, 2, 3, "", None),
    "y": (0, None, "", False, [], 5),
    "xs": ([], [0], [1, 0], [0, 1], [4, "", 1], [1, 4, 0, ""]),
}


def script_of(choose: random.Random) -> Sequence[Step]:
    """Choose what befalls a session."""
    return [
        Step(
            _change(choose),
            [choose.randrange(30) for _ in range(choose.randrange(1, 4))],
            [(choose.randrange(12), _change(choose)) for _ in range(choose.randrange(4))],
            choose.choice((None, None, choose.randrange(30))),
            choose.choice((None, None, None, choose.randrange(8))),
        )
        for _ in range(choose.randrange(2, 8))
    ]


def _change(choose: random.Random) -> Mapping[str, Any] | int:
    if choose.randrange(5) == 4:
        return choose.randrange(50)
    return {name: choose.choice(values) for name, values in _VALUES.items() if choose.random() < 0.4}


async def count_befallen(seeds: Iterable[int]) -> Counter[str]:
    """Live through the sessions of these seeds, and count what has befallen them."""
    found = Counter[str]()
    for seed in seeds:
        choose = random.Random(seed)
        program = sample(seed, most=15, weights=ASKING)
        try:
            found += await live_through(program, script_of(choose), choose)
            found["held"] += 1
        except* UndecidedError:
            found["left to time"] += 1
        except* BaseException:
            print(f"seed {seed}, inputs {json.dumps(program.inputs)}\n{json.dumps(program.document)}")  # noqa: T201 - it has to be told
            raise
    return found


def main() -> int:
    """Print the figures; 1 if something is rare."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else in_part(SESSIONS)
    begun = perf_counter()
    found = anyio.run(count_befallen, range(count))
    for name in sorted(found):
        print(f"{found[name]:7}  {name}")  # noqa: T201 - it prints its figures
    print(f"{count} sessions in {perf_counter() - begun:.0f} s")  # noqa: T201
    rare = [name for name in BEFALLS if found[name] < LEAST * min(1, count / SESSIONS)]
    if rare:
        print(f"too rarely: {', '.join(rare)}")  # noqa: T201
    return int(bool(rare) or 100 * found["held"] < HELD * count)


if __name__ == "__main__":
    sys.exit(main())
