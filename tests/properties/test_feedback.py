"""Loops of feedback edges are what the rule says, and flows of flat grammars go on wherever they stopped.

`python -m tests.properties.count feedback` looks at more of them in CI.
"""

from __future__ import annotations

import random

import anyio
from hypothesis import given, note
from hypothesis import strategies as st

from dataflow import DataflowError, Flow, RunFailed
from tests.properties.cases import Case, Flat, flats, meetings, noted, play_cut
from tests.properties.effort import LONGEST, chooses, flows
from tests.properties.node_functions import recording
from tests.properties.plain_loops import found_loops, plain_loops, random_graph
from tests.properties.playing import flow_of, plain


@flows(300)
@given(chooses)
def test_the_loops_of_a_graph_are_those_of_the_rule(choose: random.Random) -> None:
    graph = random_graph(choose)
    note(str(graph))
    assert found_loops(graph) == plain_loops(graph, choose)


@flows(30)
@given(st.one_of(flats, meetings), chooses)
async def test_whichever_record_is_the_last_the_run_comes_to_the_same(
    case: Case, choose: random.Random
) -> None:
    noted(case)
    with anyio.fail_after(LONGEST):
        for played in await play_cut(case, choose):
            case.hold(played)


@flows(60)
@given(flats)
def test_a_document_that_was_written_and_read_again_is_the_same(case: Flat) -> None:
    noted(case)
    written = case.flow.to_dict()
    again = flow_of(written)
    assert again.to_dict() == written
    assert again.wiring.block == case.flow.wiring.block


async def plain_outputs(flow: Flow, x: object) -> dict[str, object]:
    try:
        result = await flow.run(x=x)
    except RunFailed as failed:
        result = failed.result
    return {name: plain(value) for name, value in result.outputs.items()}


@flows(40)
@given(flats, st.lists(st.sampled_from((0, 1, 2, "", None)), min_size=1, max_size=3))
async def test_a_live_session_gives_what_a_run_would(case: Flat, inputs: list[object]) -> None:
    noted(case)
    with recording(), anyio.fail_after(LONGEST):
        async with case.flow.live(**case.program.inputs) as live:
            for x in inputs:
                await live.update(x=x)
                found = {}
                for name in case.program.document["outputs"]:
                    try:
                        found[name] = plain(await live.get(name))
                    except DataflowError:
                        continue
                assert found == await plain_outputs(case.flow, x)
