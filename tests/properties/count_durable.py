"""Live through a part of 2,000 runs, and count after records of which kinds their process has died.

`python -m tests.properties.count_durable [how many]` prints the figures, and fails if a kind is rare in all.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Final

import anyio

from dataflow.core.events import EventKind
from tests.properties.effort import in_part
from tests.properties.random_flows import ASKING, sample
from tests.properties.sittings import Life, Sitting

__all__ = ["KINDS", "count_cuts", "lived"]

RUNS: Final = 2_000
#: After a record of each kind the process has died so often at least; fewer runs miss a kind now and then.
LEAST: Final = 5
#: The kinds of records that random flows write.
KINDS: Final = frozenset(kind.value for kind in EventKind) - {
    "piece", "pieces_void", "timer_set", "memo_hit", "memo_missed", "memo_skipped",
}  # fmt: skip


async def lived(life: Life, script: Iterable[Sitting]) -> None:
    """Live through the sittings of a script, and then to the end."""
    for sitting in script:
        if not life.has_ended:
            await life.sit(sitting)
    await life.end()


def script_of(choose: random.Random) -> Sequence[Sitting]:
    """Choose what befalls a run."""
    return [
        Sitting(
            choose.randrange(3),
            choose.randrange(3),
            choose.choice(("", "run", "inbox")),
            choose.choice((None, None, None, choose.randrange(1, 40))),
            choose.choice((None, choose.randrange(60), choose.randrange(60))),
            choose.randrange(4) == 3,
        )
        for _ in range(choose.randrange(7))
    ]


async def count_cuts(seeds: Iterable[int]) -> Counter[str]:
    """Live through the runs of these seeds, and count the records after which their process died."""
    cuts = Counter[str]()
    for seed in seeds:
        choose = random.Random(seed)
        program = sample(seed, most=25, weights=ASKING)
        life = Life(program, choose)
        if not life.expected.is_decided:
            continue
        try:
            await lived(life, script_of(choose))
        except BaseException:
            print(f"seed {seed}, inputs {json.dumps(program.inputs)}\n{json.dumps(program.document)}")  # noqa: T201 - it has to be told
            raise
        cuts += life.cuts
    return cuts


def main() -> int:
    """Print the figures; 1 if a kind is rare."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else in_part(RUNS)
    begun = perf_counter()
    cuts = anyio.run(count_cuts, range(count))
    for kind in sorted(KINDS):
        print(f"{cuts[kind]:7}  {kind}")  # noqa: T201 - it prints its figures
    print(f"{count} runs in {perf_counter() - begun:.0f} s, whose process has died {cuts.total()} times")  # noqa: T201
    rare = sorted(kind for kind in KINDS if cuts[kind] < LEAST) if count >= RUNS else []
    if rare:
        print(f"too rarely: {', '.join(rare)}")  # noqa: T201
    return int(bool(rare))


if __name__ == "__main__":
    sys.exit(main())
