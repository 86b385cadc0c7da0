"""Live through a part of 2,000 runs, and count after records of which kinds their process has died.

`python -m tests.properties.count_durable [how many]` prints the figures, and fails if a kind is rare in all.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Final

from dataflow.core.events import EventKind
from tests.properties.figures import asked, counted, shown, verdict
from tests.properties.random_flows import ASKING, sample
from tests.properties.sittings import Life, script_of

RUNS: Final = 2_000
#: After a record of each kind the process has died so often at least; fewer runs miss a kind now and then.
LEAST: Final = 5
#: The kinds of records that random flows write.
KINDS: Final = frozenset(kind.value for kind in EventKind) - {
    "piece", "pieces_void", "timer_set", "memo_hit", "memo_missed", "memo_skipped",
}  # fmt: skip


async def count_cuts(seeds: Iterable[int]) -> Counter[str]:
    """Live through the runs of these seeds, and count the records after which their process died."""
    cuts = Counter[str]()
    for seed in seeds:
        choose = random.Random(seed)
        program = sample(seed, most=25, weights=ASKING)
        life = Life(program, choose)
        if life.expected.is_decided:
            with shown(seed, program):
                await life.through(script_of(choose.randrange, 7))
            cuts += life.cuts
    return cuts


def main() -> int:
    """Print the figures; 1 if a kind is rare."""
    runs = asked(RUNS)
    cuts = counted("runs", runs, count_cuts, KINDS)
    return verdict(kind for kind in KINDS if runs >= RUNS and cuts[kind] < LEAST)


if __name__ == "__main__":
    sys.exit(main())
