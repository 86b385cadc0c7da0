"""Maps over edges, in and behind maps of both kinds, come to what is computed for them (S7.4, S14.1)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, Final

import anyio
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from dataflow import SKIP
from tests.properties.diary import Diary
from tests.properties.driving import drive
from tests.properties.ledger import Ledger
from tests.properties.meeting import Meeting, Step, come_to, document_of, steps_of
from tests.properties.node_functions import recording
from tests.properties.playing import Played, flow_of, plain, play
from tests.properties.random_flows import Program
from tests.properties.test_against_reference import LONGEST, MANY

chooses: Final = st.integers(0, 2**32 - 1).map(random.Random)
values: Final = st.sampled_from((0, 1, "", None, 5))


@st.composite
def meetings(draw: st.DrawFn) -> list[Step]:
    return steps_of(lambda number: draw(st.integers(0, number - 1)))


def flows(count: int) -> settings:
    return settings(max_examples=100_000 if MANY else count, suppress_health_check=list(HealthCheck))


def program(steps: list[Step], x: Any) -> Program:
    document = document_of(steps)
    note(f"x: {x!r}\ndocument: {json.dumps(document)}")
    return Program(document, {"x": x})


def hold(expected: Meeting, steps: list[Step], played: Played) -> None:
    """Hold a run against what was computed."""
    result = played.result
    assert result.status == "completed"
    for step in steps:
        wanted = expected.listed(step.id)
        for output in {f"c_{step.id}", f"o_{step.id}"} & result._plan.outputs.keys():
            found = result.outputs.get(output, SKIP)
            assert (output, plain(found)) == (output, plain(wanted))
    assert played.fired == expected.fired


@flows(300)
@given(meetings(), values, chooses)
def test_in_any_order_of_settling(steps: list[Step], x: Any, choose: random.Random) -> None:
    asked = program(steps, x)
    hold(come_to(steps, x), steps, drive(flow_of(asked.document), asked, choose))


@flows(100)
@given(meetings(), values, chooses, st.booleans())
async def test_in_real_runs_that_suspend_heard_or_not(
    steps: list[Step], x: Any, choose: random.Random, is_heard: bool
) -> None:
    asked = program(steps, x)
    with anyio.fail_after(LONGEST):
        played = await play(flow_of(asked.document), asked, _pace(choose), is_heard)
    hold(come_to(steps, x), steps, played)


@flows(100)
@given(meetings(), values, chooses)
async def test_resumed_after_any_record(steps: list[Step], x: Any, choose: random.Random) -> None:
    """What was done before the process died is not done again, and the rest as ever."""
    asked, first, expected = program(steps, x), Ledger(), come_to(steps, x)
    flow = flow_of(asked.document)
    with anyio.fail_after(LONGEST), recording(_pace(choose)):
        await flow.using(store=first).run(**asked.inputs)
    kept = first.kept(choose.randrange(1, len(first.journal())))
    before = Diary.of(kept.journal())
    with anyio.fail_after(LONGEST), recording(_pace(choose), before.counted()) as record:
        result = await flow.using(store=kept).resume(first.run)
    for step in steps:
        wanted = expected.listed(step.id)
        assert (step.id, plain(result.outputs.get(f"c_{step.id}", SKIP))) == (step.id, plain(wanted))
    assert record.fired <= expected.fired
    assert not {path for path, _ in record.calls} & before.done


def _pace(choose: random.Random) -> Callable[[], int]:
    return lambda: choose.choice((0, 0, 1, 4))
