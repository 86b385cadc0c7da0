"""Loops of feedback edges are what the rule says, and flows with them come to what it says (S6.3, S6.4).

`python -m tests.properties.count_feedback` looks at more of them in CI.
"""

from __future__ import annotations

import json
import random
from typing import Final

import anyio
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from dataflow import DataflowError, Flow, RunFailed
from tests.properties.driving import drive
from tests.properties.flat_playing import Flat, flat, hold_flat, play_cut
from tests.properties.node_functions import recording
from tests.properties.plain_loops import found_loops, plain_loops, random_graph
from tests.properties.playing import flow_of, plain, play
from tests.properties.test_against_reference import LONGEST, MANY, pace

chooses: Final = st.integers(0, 2**32 - 1).map(random.Random)


def flows(count: int) -> settings:
    return settings(max_examples=100_000 if MANY else count, suppress_health_check=list(HealthCheck))


def drawn(choose: random.Random) -> Flat:
    found = flat(choose)
    note(f"inputs: {json.dumps(found.program.inputs)}\ndocument: {json.dumps(found.program.document)}")
    return found


@flows(300)
@given(chooses)
def test_the_loops_of_a_graph_are_those_of_the_rule(choose: random.Random) -> None:
    graph = random_graph(choose)
    note(str(graph))
    assert found_loops(graph) == plain_loops(graph, choose)


@flows(200)
@given(chooses)
def test_in_any_order_of_settling(choose: random.Random) -> None:
    one = drawn(choose)
    hold_flat(one, drive(one.flow, one.program, choose))


@flows(60)
@given(chooses, st.booleans())
async def test_in_real_runs_that_suspend_heard_or_not(choose: random.Random, is_heard: bool) -> None:
    one = drawn(choose)
    with anyio.fail_after(LONGEST):
        hold_flat(one, await play(one.flow, one.program, pace(choose), is_heard))


@flows(15)
@given(chooses)
async def test_whichever_record_is_the_last_the_run_comes_to_the_same(choose: random.Random) -> None:
    one = drawn(choose)
    with anyio.fail_after(LONGEST):
        for played in await play_cut(one):
            hold_flat(one, played)


@flows(60)
@given(chooses)
def test_a_document_that_was_written_and_read_again_is_the_same(choose: random.Random) -> None:
    one = drawn(choose)
    written = one.flow.to_dict()
    again = flow_of(written)
    assert again.to_dict() == written
    assert again.wiring.block == one.flow.wiring.block


async def plain_outputs(flow: Flow, x: object) -> dict[str, object]:
    try:
        result = await flow.run(x=x)
    except RunFailed as failed:
        result = failed.result
    return {name: plain(value) for name, value in result.outputs.items()}


@flows(40)
@given(chooses, st.lists(st.sampled_from((0, 1, 2, "", None)), min_size=1, max_size=3))
async def test_a_live_session_gives_what_a_run_would(choose: random.Random, inputs: list[object]) -> None:
    one = drawn(choose)
    with recording(), anyio.fail_after(LONGEST):
        async with one.flow.live(**one.program.inputs) as live:
            for x in inputs:
                await live.update(x=x)
                found = {}
                for name in one.program.document["outputs"]:
                    try:
                        found[name] = plain(await live.get(name))
                    except DataflowError:
                        continue
                assert found == await plain_outputs(one.flow, x)
