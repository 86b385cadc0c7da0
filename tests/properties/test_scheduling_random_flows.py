"""Random flows give what a plain interpreter gives, whatever the schedule (S14.1, B60)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from hypothesis import given, note, settings
from hypothesis import strategies as st

from dataflow import Event, Failure, RunFailed
from dataflow.binding import bind
from dataflow.events import Reporter
from dataflow.plan import Call
from dataflow.policy import Settings
from dataflow.reporting import unsettled_ports
from dataflow.scheduler import Scheduler
from dataflow.states import RUNNING
from tests.properties.flow_grammar import Program, size_of
from tests.properties.flow_programs import programs
from tests.properties.flow_reference import run
from tests.properties.flow_wiring import Wiring, shuffle

EXAMPLES: Final = 200
ENDED: Final = {"done", "skipped", "failed", "cancelled", "not_run"}


def hold(wiring: Wiring, outputs: dict[str, Any], failures: int = 0) -> None:
    expected, reference = run(wiring.program)
    assert outputs == expected
    assert failures == reference.failures
    assert wiring.fired == +reference.fired


@settings(max_examples=EXAMPLES)
@given(programs())
async def test_outputs_and_firings_are_those_of_the_reference(program: Program) -> None:
    wiring = Wiring(program)
    result = await wiring.wire().run(**wiring.inputs)
    hold(wiring, dict(result.outputs))


@settings(max_examples=EXAMPLES)
@given(programs(breaking=True), st.randoms(use_true_random=False))
async def test_failures_leave_the_rest_as_it_is(program: Program, choose: random.Random) -> None:
    """Under errors="continue" everything that does not depend on a failure runs (S9.4)."""
    wiring = Wiring(program, pace=lambda: choose.choice((0, 0, 1, 4)))
    flow = wiring.wire().using(errors="continue")
    shuffle(flow, choose)
    failures: Sequence[Failure] = ()
    try:
        result = await flow.run(**wiring.inputs)
    except RunFailed as failed:
        result, failures = failed.result, failed.failures
    assert {failure.type for failure in failures} <= {"BrokenError"}
    hold(wiring, dict(result.outputs), len(failures))


@settings(max_examples=EXAMPLES)
@given(programs(), st.randoms(use_true_random=False))
async def test_neither_declared_order_nor_suspension_changes_them(
    program: Program, choose: random.Random
) -> None:
    wiring = Wiring(program, pace=lambda: choose.choice((0, 0, 1, 4)))
    flow = wiring.wire()
    shuffle(flow, choose)
    note(f"declared: {list(flow.wiring.block.nodes)}")
    async with flow.start(**wiring.inputs) as run:
        events = [event async for event in run.events()]
        result = await run
    hold(wiring, dict(result.outputs))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


@settings(max_examples=EXAMPLES)
@given(programs(breaking=True), st.randoms(use_true_random=False), st.integers(0, 40))
async def test_what_a_run_cut_short_has_done_is_right(
    program: Program, choose: random.Random, most: int
) -> None:
    """The first failure ends the run, or it is cancelled after so many events."""
    wiring = Wiring(program, pace=lambda: choose.choice((0, 0, 1, 4)))
    async with wiring.wire().start(**wiring.inputs) as started:
        events, failures = list[Event](), tuple[Failure, ...]()
        async for event in started.events():
            events.append(event)
            if len(events) == most:
                started.cancel()
        try:
            result = await started
        except RunFailed as failed:
            result, failures = failed.result, tuple(failed.failures)
    assert {failure.type for failure in failures} <= {"BrokenError"}
    expected, reference = run(program)
    assert result.outputs.items() <= expected.items()
    assert wiring.fired <= reference.fired
    assert result.status in ("cancelled", "failed") or (result.outputs == expected and not reference.failures)
    assert {state.value for state in result.states.values()} <= ENDED
    finished = {event.path: event.data["state"] for event in events if event.kind == "node_finished"}
    assert finished == {path: state.value for path, state in result.states.items()}


def drive(wiring: Wiring, choose: random.Random) -> dict[str, Any]:
    """Settle what is ready in any order, without an event loop."""
    flow = wiring.wire()
    shuffle(flow, choose)
    plan = flow.compile()
    scheduler = Scheduler(plan, Settings(), Reporter("a run"))
    ready = scheduler.start(wiring.inputs)
    while ready:
        frame, index = ready.pop(choose.randrange(len(ready)))
        call = frame.plan.nodes[index].action
        assert isinstance(call, Call)
        frame.states[index] = RUNNING
        positional, keywords = bind(frame, frame.plan.nodes[index], call)
        coroutine = call.type.call(*positional, **keywords)
        try:
            coroutine.send(None)
        except StopIteration as returned:
            ready += scheduler.succeed(frame, index, returned.value)
    assert scheduler.has_ended
    assert unsettled_ports(scheduler.root) == []
    return {
        name: scheduler.root.values[slot]
        for name, slot in plan.outputs.items()
        if not hasattr(scheduler.root.values[slot], "reason")
    }


@settings(max_examples=EXAMPLES)
@given(programs(), st.randoms(use_true_random=False))
def test_the_scheduler_alone_gives_them_in_any_order_of_settling(
    program: Program, choose: random.Random
) -> None:
    wiring = Wiring(program)
    hold(wiring, drive(wiring, choose))


CONSTRUCTS: Final = {
    "a fallback that is needed",
    "a gather of which some are dead",
    "a join that is skipped",
    "a loop at its limit",
    "a loop of several rounds",
    "a loop that fails",
    "a loop that is exhausted",
    "a many-port of which some are dead",
    "a map over nothing",
    "a map over several items",
    "a map that fails",
    "a merge of which some are dead",
    "a node behind a failure",
    "a node that only next values need",
    "a value at the end",
    "an optional port that is dead",
    "nested loops or maps",
    "ten nodes or more",
    "two exits on one port",
}


def test_every_construct_occurs() -> None:
    """The other tests would pass on empty flows too."""
    happened = Counter[str]()

    @settings(max_examples=400, derandomize=True, database=None)
    @given(st.booleans().flatmap(lambda breaking: programs(breaking=breaking)))
    def count(program: Program) -> None:
        outputs, reference = run(program)
        happened.update({what: 1 for what, times in reference.happened.items() if times})
        happened["a value at the end"] += bool(outputs)
        happened["nested loops or maps"] += size_of(program.block) > len(program.block) + 3
        happened["ten nodes or more"] += size_of(program.block) >= 10

    count()
    assert {what for what, times in happened.items() if times >= 10} == CONSTRUCTS
