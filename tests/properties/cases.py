"""Playing a random flat flow, and holding what it came to against the reference."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dataflow import Flow, FlowInvalid, RunFailed
from dataflow.diagnostics.graphs import LIST_IN_ITS_MAP
from tests.properties.feedback_flows import FlatFlow, find_loops, flat_flow
from tests.properties.feedback_maps import read_as_lists
from tests.properties.feedback_reference import FlatReference
from tests.properties.feedback_rounds import Dead
from tests.properties.ledger import Ledger
from tests.properties.node_functions import recording
from tests.properties.playing import Fired, Played, flow_of, plain
from tests.properties.random_flows import Program

__all__ = ["Flat", "flat", "hold_flat", "play_cut"]


@dataclass(frozen=True)
class Flat:
    """A flow, and what the reference says of it."""

    drawn: FlatFlow
    program: Program
    flow: Flow
    outputs: dict[str, Any]
    states: dict[str, str]
    fired: Fired


def flat(choose: random.Random) -> Flat:
    """Draw a flow and ask the reference."""
    drawn = flat_flow(choose)
    try:
        flow = flow_of(drawn.program().document)
    except FlowInvalid as invalid:
        if any(LIST_IN_ITS_MAP.code not in str(problem) for problem in invalid.problems):
            raise
        read_as_lists(drawn)  # else an item would wait for a list that waits for it (S7.1)
        find_loops(drawn)
        flow = flow_of(drawn.program().document)
    program, reference = drawn.program(), FlatReference(drawn)
    with recording() as record:
        outputs = reference.run()
    return Flat(drawn, program, flow, outputs, reference.states, record.fired)


def hold_flat(expected: Flat, played: Played, earlier: Fired | None = None) -> None:
    """Hold a run against the reference: what it has fired, in which states that left it, and its outputs."""
    wanted = {name: plain(token) for name, token in expected.outputs.items() if not isinstance(token, Dead)}
    assert {name: plain(value) for name, value in played.result.outputs.items()} == wanted
    assert {path: state.value for path, state in played.result.states.items()} == expected.states
    assert (earlier or Counter()) | played.fired == expected.fired


async def play_cut(expected: Flat) -> list[Played]:
    """Run a flow in a store, then again from what the journal holds after each of its records."""
    store = Ledger()
    played = []
    with recording() as first, suppress(RunFailed):
        await expected.flow.using(errors="continue", store=store).run(**expected.program.inputs)
    for count in range(1, len(store.journal())):
        flow = expected.flow.using(errors="continue", store=store.kept(count))
        with recording(healed=()) as record:
            try:
                result = await flow.resume(store.run)
            except RunFailed as failed:
                result = failed.result
        fired = Counter(dict.fromkeys((path for path, _ in record.fired), 1))
        played.append(Played(result, Counter({(path, 1): 1 for path in fired} | first.fired)))
    return played
