"""Play 2,000 random flows of a fixed sample against the reference, and count what they contain.

`python -m tests.properties.count [how many]` prints the figures, and fails if a construct is rare.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from time import perf_counter
from typing import Final

from tests.properties.constructs import CONSTRUCTS, contained
from tests.properties.driving import drive
from tests.properties.playing import expect, flow_of, hold
from tests.properties.random_flows import sample

__all__ = ["count"]

FLOWS: Final = 2_000
#: Of so many flows, each construct is in as many as this; and so many percent come to a value.
LEAST: Final = 20
WITH_A_VALUE: Final = 85
#: So many percent are decided by the rules alone.
HELD: Final = 98


def count(flows: int, first: int = 0) -> Counter[str]:
    """Play the flows of so many seeds, each in three orders, and count in how many a construct is."""
    found = Counter[str]()
    for seed in range(first, first + flows):
        program = sample(seed)
        flow, expected = flow_of(program.document), expect(program)
        if not expected.is_decided:
            found["left to time"] += 1
            continue
        try:
            for order in range(3):
                hold(expected, drive(flow, program, random.Random(order)))
        except BaseException:
            print(f"seed {seed}, inputs {json.dumps(program.inputs)}\n{json.dumps(program.document)}")  # noqa: T201
            raise
        found.update(["flows", *contained(program, expected)])
    return found


def main() -> int:
    """Print the figures; 1 if something is rare."""
    flows = int(sys.argv[1]) if len(sys.argv) > 1 else FLOWS
    begun = perf_counter()
    found = count(flows)
    for name in sorted(CONSTRUCTS):
        print(f"{found[name]:7}  {name}")  # noqa: T201 - it prints its figures
    share = 100 * found["a value at the end"] / found["flows"]
    print(f"{found['flows']} flows in {perf_counter() - begun:.0f} s, {share:.1f} % came to a value")  # noqa: T201
    print(f"{found['left to time']} more are not held, as time decides them")  # noqa: T201
    rare = sorted(name for name in CONSTRUCTS if found[name] < LEAST)
    if rare:
        print(f"in fewer than {LEAST} flows: {', '.join(rare)}")  # noqa: T201
    held = 100 * found["flows"] / flows
    return int(bool(rare) or share < WITH_A_VALUE or held < HELD)


if __name__ == "__main__":
    sys.exit(main())
