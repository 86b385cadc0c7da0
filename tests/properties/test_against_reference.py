"""Random flows come to what the reference says, however they are run (S14.1).

Hypothesis prints the flow as JSON and how to play it again. `HYPOTHESIS_PROFILE=many` plays 100,000 flows;
`python -m tests.properties.count` counts what 2,000 flows contain.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

import anyio
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.properties.driving import drive
from tests.properties.playing import expect, flow_of, hold, play
from tests.properties.random_flows import Program, programs
from tests.properties.shuffling import shuffled

MANY: Final = 100_000 if os.environ.get("HYPOTHESIS_PROFILE") == "many" else 0
#: Far more than a flow takes on a busy machine; a run that hangs ends here.
LONGEST: Final = 60

Choose = random.Random
chooses: Final = st.integers(0, 2**32 - 1).map(random.Random)


def told(program: Program) -> Program:
    """Note the flow for the case that the test fails."""
    note(f"inputs: {json.dumps(program.inputs)}\ndocument: {json.dumps(program.document)}")
    return program


def pace(choose: Choose) -> Callable[[], int]:
    return lambda: choose.choice((0, 0, 1, 4))


@settings(max_examples=MANY or 300)
@given(programs(), chooses)
def test_in_any_order_of_settling(program: Program, choose: Choose) -> None:
    flow, expected = flow_of(told(program).document), expect(program)
    for _ in range(3):
        hold(expected, drive(flow, program, choose))


@settings(max_examples=MANY or 150)
@given(programs(), chooses)
async def test_in_real_runs_that_suspend(program: Program, choose: Choose) -> None:
    with anyio.fail_after(LONGEST):
        hold(expect(told(program)), await play(flow_of(program.document), program, pace(choose)))


@settings(max_examples=MANY or 100)
@given(programs(), chooses, st.booleans())
async def test_heard_or_not(program: Program, choose: Choose, is_heard: bool) -> None:
    with anyio.fail_after(LONGEST):
        played = await play(flow_of(told(program).document), program, pace(choose), is_heard)
    hold(expect(program), played)


@settings(max_examples=MANY or 200)
@given(programs(), chooses)
def test_in_any_order_of_insertion(program: Program, choose: Choose) -> None:
    other = Program(shuffled(told(program).document, choose), program.inputs)
    note(f"shuffled: {json.dumps(other.document)}")
    hold(expect(program), drive(flow_of(other.document), other, choose), is_as_declared=False)


async def _digest(count: int) -> str:
    """Play the first flows of a fixed sample, and return a digest of what they come to."""
    digest = hashlib.sha256()
    sample: list[Program] = []

    @settings(max_examples=count, derandomize=True, database=None)
    @given(programs())
    def take(program: Program) -> None:
        sample.append(program)

    take()
    for program in sample:
        played = await play(flow_of(program.document), program)
        result: Any = played.result
        digest.update(repr((result.status, dict(result.outputs), sorted(played.fired.items()))).encode())
        digest.update(repr([result.why(path) for path in result.states]).encode())
    return digest.hexdigest()


def test_two_processes_with_other_hash_seeds_agree() -> None:
    code = "import anyio; from tests.properties import test_against_reference as t; print(anyio.run(t._digest, 200))"
    digests = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert digests[0] == digests[1]
    assert len(digests[0].strip()) == 64
