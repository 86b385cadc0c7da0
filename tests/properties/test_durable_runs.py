"""Random flows that pause, are answered, cancelled, mended, and whose process dies (S11, S12).

Each is run in a store, in as many sittings as it takes. What it comes to is held against the reference, which
knows nothing of stores, and its journal against the rules that every journal keeps to: see `Diary`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Final

import anyio
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from tests.properties.count_durable import KINDS, lived
from tests.properties.random_flows import ASKING, Program, programs, sample
from tests.properties.sittings import MENDED, Life, Sitting
from tests.properties.test_against_reference import LONGEST, MANY

#: So often the process dies after a record of a kind.
ENOUGH: Final = 3
chooses: Final = st.integers(0, 2**32 - 1).map(random.Random)
few: Final = st.integers(0, 3)
sittings: Final = st.builds(
    Sitting,
    resumed=few,
    posted=few,
    live=st.sampled_from(("", "run", "inbox")),
    cancelled=st.none() | st.integers(1, 40),
    kept=st.none() | st.integers(0, 60),
    breaks=st.booleans(),
)


def runs(count: int) -> settings:
    return settings(max_examples=100_000 if MANY else count, suppress_health_check=list(HealthCheck))


def life(program: Program, choose: random.Random) -> Life:
    note(f"inputs: {json.dumps(program.inputs)}\ndocument: {json.dumps(program.document)}")
    made = Life(program, choose)
    assume(made.expected.is_decided)
    return made


@runs(150)
@given(programs(most=25, weights=ASKING), st.lists(sittings, max_size=6), chooses)
async def test_whatever_befalls_a_run_it_comes_to_the_same(
    program: Program, script: list[Sitting], choose: random.Random
) -> None:
    one = life(program, choose)
    with anyio.fail_after(LONGEST):
        await lived(one, script)


@runs(15)
@given(programs(most=10, weights=ASKING), chooses)
async def test_whichever_record_is_the_last_the_run_comes_to_the_same(
    program: Program, choose: random.Random
) -> None:
    first = life(program, choose)
    first.mended = MENDED  # a run that fails has ended
    with anyio.fail_after(LONGEST):
        await first.end()
        for count in range(1, len(first.store.journal())):
            again = Life(program, choose, first.store.kept(count), fired=first.fired, mended=MENDED)
            await again.end()


async def test_a_record_of_any_kind_may_be_the_last() -> None:
    """Which kinds the runs of the other tests end with is left to chance."""
    cuts = Counter[str]()
    for seed in range(300):
        program = sample(seed, most=10, weights=ASKING)
        first = Life(program, random.Random(seed), mended=MENDED)
        if first.expected.is_decided:
            await first.end()
            last = {record.kind: record.seq for record in first.store.journal()[:-1]}
            for kind in [kind for kind in last if cuts[kind] < ENOUGH]:
                cuts[kind] += 1
                again = Life(program, first.choose, first.store.kept(last[kind]), fired=first.fired)
                again.mended = MENDED
                await again.end()
    assert {kind for kind in cuts if cuts[kind] == ENOUGH} >= KINDS - {"run_finished"}
