"""Random flows come to what the reference says, however they are run (S14.1).

Hypothesis prints a flow that fails as JSON, made small, and how to play it again. With the environment
variable `HYPOTHESIS_PROFILE=many`, and `--timeout=0`, it is 100,000 flows a property.
`python -m tests.properties.count` plays more in CI and counts what they contain.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Final

import anyio
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from dataflow import DataflowError, Flow
from tests.properties.constructs import CONSTRUCTS, contained
from tests.properties.driving import drive
from tests.properties.node_functions import recording
from tests.properties.playing import Expected, expect, flow_of, hold, hold_part, needed_by, plain, play
from tests.properties.random_flows import Program, programs, sample
from tests.properties.reference_tokens import Dead
from tests.properties.shuffling import shuffled

MANY: Final = os.environ.get("HYPOTHESIS_PROFILE") == "many"
#: Far more than a flow takes on a busy machine; a run that hangs ends here.
LONGEST: Final = 60
SEEDS: Final = range(300)

chooses: Final = st.integers(0, 2**32 - 1).map(random.Random)


def flows(count: int) -> settings:
    """Play so many flows, which take their time to be drawn."""
    return settings(max_examples=100_000 if MANY else count, suppress_health_check=list(HealthCheck))


def read(program: Program) -> tuple[Flow, Expected]:
    """Make a flow and ask the reference; notes the flow for the case that the test fails."""
    note(f"inputs: {json.dumps(program.inputs)}\ndocument: {json.dumps(program.document)}")
    expected = expect(program)
    assume(expected.is_decided)
    return flow_of(program.document), expected


def pace(choose: random.Random) -> Callable[[], int]:
    return lambda: choose.choice((0, 0, 1, 4))


@flows(300)
@given(programs(), chooses)
def test_in_any_order_of_settling(program: Program, choose: random.Random) -> None:
    flow, expected = read(program)
    hold(expected, drive(flow, program, choose))


@flows(100)
@given(programs(), chooses, st.booleans())
async def test_in_real_runs_that_suspend_heard_or_not(
    program: Program, choose: random.Random, is_heard: bool
) -> None:
    flow, expected = read(program)
    with anyio.fail_after(LONGEST):
        hold(expected, await play(flow, program, pace(choose), is_heard))


@flows(200)
@given(programs(), chooses)
def test_in_any_order_of_declaration(program: Program, choose: random.Random) -> None:
    _, expected = read(program)
    other = Program(shuffled(program.document, choose), program.inputs)
    note(f"shuffled: {json.dumps(other.document)}")
    hold(expected, drive(flow_of(other.document), other, choose), is_as_declared=False)


@flows(100)
@given(programs(), chooses, st.integers(1, 4))
def test_with_any_limit(program: Program, choose: random.Random, most: int) -> None:
    using = {**program.document["using"], "max_concurrency": most}
    limited = Program({**program.document, "using": using}, program.inputs)
    flow, expected = read(limited)
    hold(expected, drive(flow, limited, choose))


@flows(100)
@given(programs(breaking=False), chooses)
async def test_pulling_an_output_runs_what_it_needs(program: Program, choose: random.Random) -> None:
    flow, expected = read(program)
    firings = expected.outcome.firings.values()
    assume(all(firing.state != "failed" for firing, _ in firings))  # what is not needed may be what fails
    name = choose.choice(list(program.document["outputs"]))
    wanted = expected.outcome.outputs[name]
    with recording(pace(choose)) as record, anyio.fail_after(LONGEST):
        try:
            assert plain(await flow.pull(name, **program.inputs)) == plain(wanted)
        except DataflowError:
            assert isinstance(wanted, Dead)
    assert record.fired <= expected.fired
    assert {re.split(r"[/~\[]", path)[0] for path, _ in record.fired} <= needed_by(program.document, name)


@flows(100)
@given(programs(), chooses, st.integers(0, 40))
async def test_what_a_run_cut_short_has_done_is_right(
    program: Program, choose: random.Random, most: int
) -> None:
    """The run is cancelled after so many events, if it has not come to its end."""
    flow, expected = read(program)
    with anyio.fail_after(LONGEST):
        played = await play(flow, program, pace(choose), is_heard=True, most=most)
    if played.result.status == "completed":
        hold(expected, played)
    else:  # cancelled, or it had failed before it was
        hold_part(expected, played)


async def digest() -> str:
    """Return a digest of what a fixed sample of flows comes to, without those that time decides."""
    found = hashlib.sha256()
    for program in map(sample, SEEDS):
        expected = expect(program)
        if expected.cut or expected.loose:
            continue
        played = await play(flow_of(program.document), program)
        result = played.result
        told = [(path, state.value, result.why(path)) for path, state in result.states.items()]
        outcome = (result.status, sorted(result.outputs.items()), sorted(played.fired.items()), told)
        found.update(repr(outcome).encode())
    return found.hexdigest()


def test_processes_with_other_hash_seeds_come_to_the_same() -> None:
    code = (
        "import anyio; from tests.properties.test_against_reference import digest; print(anyio.run(digest))"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    one, other = (process.communicate()[0].strip() for process in processes)
    assert len(one) == 64
    assert one == other


def test_every_construct_occurs() -> None:
    """The other tests would pass on empty flows too; how often each occurs is counted by `count`."""
    found = set[str]().union(*(contained(sample(seed), expect(sample(seed))) for seed in range(1_000)))
    assert found >= CONSTRUCTS
