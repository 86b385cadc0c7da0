"""Random flows that pause, are answered, cancelled, mended, forked, and whose process dies (S11, S12, S13.5).

Each is run in a store, in as many sittings as it takes. What it comes to is held against the reference, which
knows nothing of stores, and its journal against the rules that every journal keeps to: see `Diary`. A fork
comes to what a new run with the changed inputs comes to; what is changed, or has failed, reaches by the
document, read without the engine, is all that may run again.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import partial
from typing import Any, Final

import anyio
from hypothesis import assume, given, note, reject
from hypothesis import strategies as st

from dataflow.durable.fork import prepare_forked
from tests.properties.count import KINDS
from tests.properties.effort import LONGEST, chooses, drawn, flows
from tests.properties.ledger import Diary
from tests.properties.live_sessions import affected, root_of
from tests.properties.playing import expect
from tests.properties.random_flows import ASKING, Program, changed_inputs, programs, sample
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
    assert {kind for kind in cuts if cuts[kind] == ENOUGH} >= KINDS - {
        "run_finished", "loop_tested", "contexts_merged",
    }  # fmt: skip


async def fork(first: Life, inputs: dict[str, Any], choose: random.Random) -> Life:
    """Fork a run with other inputs; the process dies as soon as the fork is written."""
    changes = {f"$in.{name}": value for name, value in inputs.items()}
    prepared = await prepare_forked(first.flow, first.store.run, changes, "refuse")
    assert prepared.scheduler.journal_writer is not None
    await prepared.scheduler.journal_writer.journal.close()
    program = Program(first.program.document, {**first.program.inputs, **inputs})
    taken = Diary.of(first.store.journal())
    second = Life(program, choose, first.store, first.healed, mended=MENDED, taken=taken.done)
    try:
        second.expected = expect(program, first.healed)
    except NotImplementedError:  # a race that time decides
        reject()
    assume(second.expected.is_decided)
    second.fired = Counter({place: 1 for place in second.expected.fired if place[0] in taken.states})
    return second


@flows(150)
@given(
    programs(most=25, weights=ASKING),
    drawn(partial(script_of, fewer=5)),
    st.booleans(),
    drawn(changed_inputs),
    chooses,
)
async def test_a_fork_comes_to_what_a_new_run_comes_to(
    program: Program, script: list[Sitting], has_ended: bool, inputs: dict[str, Any], choose: random.Random
) -> None:
    first = life(program, choose)
    note(f"changed: {json.dumps(inputs)}")
    with anyio.fail_after(LONGEST):
        await first.sit(Sitting())
        for sitting in script:
            if not first.has_ended:
                await first.sit(sitting)
        if has_ended:
            await first.end()
        source, run = first.store.journal(), first.store.run
        before = Diary.of(source)
        if before.failures or before.ends:  # a flow node that has failed goes on counting its attempts
            assume(not any("~" in path for path in before.states))
        second = await fork(first, inputs, choose)
        again = affected(program.document, inputs, {root_of(path) for path in before.failed})
        lost = [path for path in before.done.difference(second.taken) if root_of(path) not in again]
        assert not lost
        await second.end()
        assert [*second.store.records(run)] == source
