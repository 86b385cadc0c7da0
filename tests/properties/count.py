"""Play a part of 2,000 random flows against the reference, and count what they contain and take.

`python -m tests.properties.count [how many]` prints the figures, and fails if a construct is rare, or one of
the ways that the engine has of doing what is done often.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

import anyio

from tests.properties.constructs import CONSTRUCTS, contained
from tests.properties.driving import drive
from tests.properties.effort import in_part
from tests.properties.paths import WAYS, counting
from tests.properties.playing import expect, flow_of, hold, play
from tests.properties.random_flows import Program, sample

__all__ = ["Counts", "count"]

FLOWS: Final = 2_000
#: Of so many flows each construct is in as many as this, of fewer in their part; and so many percent
#: come to a value.
LEAST: Final = 20
WITH_A_VALUE: Final = 85
#: So many percent are decided by the rules alone.
HELD: Final = 98
#: Each way is taken in so many percent of the flows, and so often when there is something to do.
TAKEN: Final = 10


@dataclass
class Counts:
    """What is in so many flows, how often each way was taken, and in how many flows."""

    contained: Counter[str] = field(default_factory=Counter)
    taken: Counter[str] = field(default_factory=Counter)
    taken_in: Counter[str] = field(default_factory=Counter)

    def rare(self) -> list[str]:
        """Name the constructs that are in too few flows."""
        least = LEAST * min(1, self.contained["flows"] / FLOWS)
        return sorted(name for name in CONSTRUCTS if self.contained[name] < least)

    def rarely_taken(self) -> list[str]:
        """Name the ways that are taken in too few flows, or too rarely."""
        found = []
        for ways in WAYS.items():
            together = sum(self.taken[way] for way in ways)
            for way in ways:
                share, flows = self.taken[way] / together, self.taken_in[way] / self.contained["flows"]
                found += [way] if 100 * min(share, flows) < TAKEN else []
        return found


async def count(flows: int, first: int = 0) -> Counts:
    """Play the flows of so many seeds, each in three orders and in a real run, and count."""
    counts = Counts()
    for seed in range(first, first + flows):
        program = sample(seed)
        try:
            await _count(counts, program)
        except BaseException:
            print(f"seed {seed}, inputs {json.dumps(program.inputs)}\n{json.dumps(program.document)}")  # noqa: T201
            raise
    return counts


async def _count(counts: Counts, program: Program) -> None:
    flow, expected = flow_of(program.document), expect(program)
    if not expected.is_decided:
        counts.contained["left to time"] += 1
        return
    for order in range(3):
        hold(expected, drive(flow, program, random.Random(order)))
    with counting() as taken:
        hold(expected, await play(flow, program))
    counts.taken.update(taken)
    counts.taken_in.update(way for way, times in taken.items() if times)
    counts.contained.update(["flows", *contained(program, expected)])


def main() -> int:
    """Print the figures; 1 if something is rare."""
    flows = int(sys.argv[1]) if len(sys.argv) > 1 else in_part(FLOWS)
    begun = perf_counter()
    counts = anyio.run(count, flows)
    found = counts.contained
    for name in sorted(CONSTRUCTS):
        print(f"{found[name]:7}  {name}")  # noqa: T201 - it prints its figures
    for ways in WAYS.items():
        for way in ways:
            print(f"{counts.taken[way]:7}  {way}, in {counts.taken_in[way]} flows")  # noqa: T201
    share = 100 * found["a value at the end"] / found["flows"]
    print(f"{found['flows']} flows in {perf_counter() - begun:.0f} s, {share:.1f} % came to a value")  # noqa: T201
    print(f"{found['left to time']} more are not held, as time decides them")  # noqa: T201
    rare, rarely_taken = counts.rare(), counts.rarely_taken()
    if rare:
        print(f"in too few flows: {', '.join(rare)}")  # noqa: T201
    if rarely_taken:
        print(f"taken in fewer than {TAKEN} % of the flows, or of the times: {', '.join(rarely_taken)}")  # noqa: T201
    held = 100 * found["flows"] / flows
    return int(bool(rare or rarely_taken) or share < WITH_A_VALUE or held < HELD)


if __name__ == "__main__":
    sys.exit(main())
