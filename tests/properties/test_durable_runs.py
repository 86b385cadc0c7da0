"""Random flows that pause, are answered, cancelled, mended, and whose process dies (S11, S12).

Each is run in a store, in as many sittings as it takes. What it comes to is held against the reference, which
knows nothing of stores, and its journal against the rules that every journal keeps to: see `Diary`.
"""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from typing import Final

import anyio
from hypothesis import assume, given, note

from tests.properties.count import KINDS
from tests.properties.effort import LONGEST, chooses, drawn, flows
from tests.properties.random_flows import ASKING, Program, programs, sample
from tests.properties.sittings import MENDED, Life, Sitting, script_of

#: So often the process dies after a record of a kind.
ENOUGH: Final = 3


def life(program: Program, choose: random.Random) -> Life:
    note(str(program))
    made = Life(program, choose)
    assume(made.expected.is_decided)
    return made


@flows(150)
@given(programs(most=25, weights=ASKING), drawn(partial(script_of, fewer=7)), chooses)
async def test_whatever_befalls_a_run_it_comes_to_the_same(
    program: Program, script: list[Sitting], choose: random.Random
) -> None:
    one = life(program, choose)
    with anyio.fail_after(LONGEST):
        await one.through(script)


@flows(15)
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
