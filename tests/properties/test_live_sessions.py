"""Live sessions of random flows: whatever changes, and whoever asks, it is what a fresh run comes to (S13.4).

Hypothesis prints a session that fails, made small. `python -m tests.properties.count sessions` plays more in
CI and counts what befalls them.
"""

from __future__ import annotations

import random
from functools import partial

import anyio
from hypothesis import given, note, reject

from tests.properties.effort import LONGEST, chooses, drawn, flows
from tests.properties.live_sessions import Step, UndecidedError, live_through, script_of
from tests.properties.random_flows import ASKING, Program, programs


async def lived(program: Program, script: list[Step], choose: random.Random | None = None) -> None:
    note(str(program))
    with anyio.fail_after(LONGEST):
        try:
            await live_through(program, script, choose)
        except* UndecidedError:
            reject()


@flows(150)
@given(programs(most=15), drawn(partial(script_of, most=6, is_quiet=True)))
async def test_what_is_called_is_what_is_given_something_else(program: Program, script: list[Step]) -> None:
    await lived(program, script)


@flows(150)
@given(programs(most=15, weights=ASKING), drawn(partial(script_of, most=6)), chooses)
async def test_whatever_overtakes_what_each_gets_is_that_of_one_revision(
    program: Program, script: list[Step], choose: random.Random
) -> None:
    await lived(program, script, choose)
