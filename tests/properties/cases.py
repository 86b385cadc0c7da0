"""Random flows of each grammar, with what each has to come to: nested, flat, meeting."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Protocol

from hypothesis import assume, note
from hypothesis import strategies as st

from dataflow import SKIP, Flow, FlowInvalid, RunFailed
from dataflow.diagnostics.graphs import LIST_IN_ITS_MAP
from tests.properties.effort import chooses, drawn, pace
from tests.properties.feedback_flows import (
    Dead,
    FlatFlow,
    FlatReference,
    find_loops,
    flat_flow,
    read_as_lists,
)
from tests.properties.ledger import Diary, Ledger
from tests.properties.meeting import Meeting, Step, come_to, document_of, steps_of
from tests.properties.node_functions import recording
from tests.properties.playing import Expected, Fired, Played, expect, flow_of, hold, plain
from tests.properties.random_flows import Program, programs


class Case(Protocol):
    """A flow, and what it has to come to."""

    @property
    def program(self) -> Program: ...

    @property
    def flow(self) -> Flow: ...

    @property
    def is_decided(self) -> bool:
        """Whether the rules alone decide what it comes to."""

    def hold(self, played: Played) -> None:
        """Hold a run against it."""


@dataclass
class Nested:
    """A flow with loops, maps and flows in one another."""

    program: Program

    def __post_init__(self) -> None:
        self.flow: Flow = flow_of(self.program.document)
        self.expected: Expected = expect(self.program)
        self.is_decided: bool = self.expected.is_decided

    def hold(self, played: Played) -> None:
        hold(self.expected, played)


@dataclass(frozen=True)
class Flat:
    """A flow with feedback edges, and what the reference says of it."""

    drawn: FlatFlow
    program: Program
    flow: Flow
    outputs: dict[str, Any]
    states: dict[str, str]
    fired: Fired
    is_decided: bool = True

    def hold(self, played: Played) -> None:
        """Hold what a run has fired, in which states that left it, and its outputs."""
        wanted = {name: plain(token) for name, token in self.outputs.items() if not isinstance(token, Dead)}
        assert {name: plain(value) for name, value in played.result.outputs.items()} == wanted
        assert {path: state.value for path, state in played.result.states.items()} == self.states
        assert played.fired == self.fired


def flat(choose: random.Random) -> Flat:
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


@dataclass
class Met:
    """A flow in which paths part and meet without a join."""

    steps: list[Step]
    x: Any
    is_decided: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        self.program: Program = Program(document_of(self.steps), {"x": self.x})
        self.flow: Flow = flow_of(self.program.document)

    @cached_property
    def expected(self) -> Meeting:
        return come_to(self.steps, self.x)

    def hold(self, played: Played) -> None:
        expected, result = self.expected, played.result
        assert result.status == "completed"
        for step in self.steps:
            wanted = plain(expected.listed(step.id))
            for output in {f"c_{step.id}", f"o_{step.id}"} & self.program.document["outputs"].keys():
                assert (output, plain(result.outputs.get(output, SKIP))) == (output, wanted)
        assert played.fired == expected.fired


#: A flow whose maps open in each other has hundreds of records, and a run of it takes time for each.
MOST_CUTS: Final = 12

meetings: Final = st.builds(Met, drawn(steps_of), st.sampled_from((0, 1, "", None, 5)))
flats: Final = chooses.map(flat)
cases: Final[st.SearchStrategy[Case]] = st.one_of(programs().map(Nested), flats, meetings)


def noted(case: Case) -> None:
    """Note a flow for the case that its test fails; leave out one that time decides."""
    note(str(case.program))
    assume(case.is_decided)


async def play_cut(case: Case, choose: random.Random) -> list[Played]:
    """Run a flow in a store, then again from what the journal holds after some of its records."""
    store = Ledger()
    played = []
    errors = case.flow.settings.errors
    with recording(pace(choose)) as first, suppress(RunFailed):
        await case.flow.using(errors=errors, store=store).run(**case.program.inputs)
    cuts = range(1, len(store.journal()))
    for count in choose.sample(cuts, min(len(cuts), MOST_CUTS)):
        kept = store.kept(count)
        before = Diary.of(kept.journal())
        with recording(pace(choose), before.counted()) as record:
            try:
                result = await case.flow.using(errors=errors, store=kept).resume(store.run)
            except RunFailed as failed:
                result = failed.result
        assert not {path for path, _ in record.calls} & before.done - Diary.of(kept.journal()).forgotten
        fired = Counter({(path, 1): 1 for path, _ in record.fired})
        played.append(Played(result, fired | first.fired))
    return played
