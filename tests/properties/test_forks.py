"""A fork of any random run comes to what a new run with the changed inputs comes to (S13.5).

What is changed, or has failed, reaches by the document, read without the engine, is all that may run again.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import partial
from typing import Any

import anyio
from hypothesis import assume, given, note, reject
from hypothesis import strategies as st

from dataflow.durable.fork import prepare_forked
from tests.properties.diary import Diary
from tests.properties.effort import LONGEST, chooses, drawn, flows
from tests.properties.live_sessions import affected, root_of
from tests.properties.playing import expect
from tests.properties.random_flows import ASKING, Program, changed_inputs, programs
from tests.properties.sittings import MENDED, Life, Sitting, script_of
from tests.properties.test_durable_runs import life


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
