"""A fork of any random run comes to what a new run with the changed inputs comes to (S13.5).

What is changed, or has failed, reaches by the document, read without the engine, is all that may run again.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from typing import Any, Final

import anyio
from hypothesis import assume, given, note, reject
from hypothesis import strategies as st

from dataflow.durable.fork import prepare_forked
from dataflow.formats.native.document import FlowDocument
from tests.properties.diary import Diary
from tests.properties.document_reading import by_node, reads_of
from tests.properties.lifting import lifted
from tests.properties.playing import FUNCTIONS, expect
from tests.properties.random_flows import ASKING, Program, programs
from tests.properties.sittings import MENDED, Life, Sitting
from tests.properties.test_against_reference import LONGEST
from tests.properties.test_durable_runs import chooses, life, runs, sittings

VALUES: Final[dict[str, Any]] = {
    "x": st.sampled_from((0, 1, 2, 3, "", None)),
    "y": st.sampled_from((0, 1, 5, "", None)),
    "xs": st.lists(st.sampled_from((0, 1, "", 4)), max_size=4),
}
changed_inputs: Final = st.fixed_dictionaries({}, optional=VALUES)


def reached(program: Program, names: set[str], nodes: set[str]) -> set[str]:
    """Name the nodes of the flow itself that depend on these inputs and nodes, however far."""
    flow = FlowDocument.model_validate(lifted(program.document))
    reads = by_node(reads_of(flow, FUNCTIONS))
    found = {read.reader for read in reads.get("$in", ()) if read.name in names} | nodes
    while more := {read.reader for id in found if id for read in reads.get(id, ())} - found:
        found |= more
    return {id for id in found if id}


def root_of(path: str) -> str:
    """Return the id of the node of the flow itself that a path leads into."""
    return re.split(r"[/\[~]", path, maxsplit=1)[0]


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


@runs(150)
@given(
    programs(most=25, weights=ASKING), st.lists(sittings, max_size=4), st.booleans(), changed_inputs, chooses
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
        again = reached(program, set(inputs), {root_of(path) for path in before.failed})
        lost = [path for path in before.done.difference(second.taken) if root_of(path) not in again]
        assert not lost
        await second.end()
        assert [*second.store.records(run)] == source
