"""Live sessions of random flows: whatever changes, and whoever asks, it is what a fresh run comes to (S13.4).

Hypothesis prints a session that fails, made small. `python -m tests.properties.count_live` plays more in
CI and counts what befalls them.
"""

from __future__ import annotations

import json
import random
from typing import Any, Final

import anyio
from hypothesis import HealthCheck, given, note, reject, settings
from hypothesis import strategies as st

from tests.properties.live_sessions import Step, UndecidedError, live_through
from tests.properties.random_flows import ASKING, ENABLED, Program, programs
from tests.properties.test_against_reference import LONGEST, MANY

#: What inputs change to: few values, so that they come to earlier ones, and to equal ones.
VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "x": (0, 1, 2, 3, "", None),
    "y": (0, None, "", False, [], 5),
    "xs": ([], [0], [1, 0], [0, 1], [4, "", 1], [1, 4, 0, ""]),
}
changes: Final = st.one_of(
    st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in VALUES.items()}),
    st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in VALUES.items()}),
    st.integers(0, 50),
)
numbers: Final = st.integers(0, 30)
turns: Final = st.integers(0, 12)
quiet_steps: Final = st.builds(Step, changes, st.lists(numbers, min_size=1, max_size=2))
steps: Final = st.builds(
    Step,
    changes,
    st.lists(numbers, min_size=1, max_size=3),
    st.lists(st.tuples(turns, changes), max_size=3),
    watched=st.none() | numbers,
    cancelled=st.none() | turns,
)
chooses: Final = st.integers(0, 2**32 - 1).map(random.Random)


def sessions(count: int) -> settings:
    return settings(max_examples=100_000 if MANY else count, suppress_health_check=list(HealthCheck))


async def lived(program: Program, script: list[Step], choose: random.Random | None = None) -> None:
    note(f"inputs: {json.dumps(program.inputs)}\ndocument: {json.dumps(program.document)}")
    with anyio.fail_after(LONGEST):
        try:
            await live_through(program, script, choose)
        except* UndecidedError:
            reject()


@sessions(150)
@given(programs(most=15, weights=ENABLED), st.lists(quiet_steps, min_size=1, max_size=6))
async def test_what_is_called_is_what_is_given_something_else(program: Program, script: list[Step]) -> None:
    await lived(program, script)


@sessions(150)
@given(programs(most=15, weights=ASKING), st.lists(steps, min_size=1, max_size=6), chooses)
async def test_whatever_overtakes_what_each_gets_is_that_of_one_revision(
    program: Program, script: list[Step], choose: random.Random
) -> None:
    await lived(program, script, choose)
