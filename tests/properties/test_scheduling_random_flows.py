"""Random flows give what a plain interpreter gives, whatever the schedule (S14.1, B60)."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, Final

from hypothesis import given, note, settings
from hypothesis import strategies as st

from dataflow.binding import bind
from dataflow.events import Reporter
from dataflow.plan import Call
from dataflow.scheduler import Scheduler
from dataflow.states import RUNNING
from tests.properties.flow_grammar import Program, programs, size_of
from tests.properties.flow_reference import run
from tests.properties.flow_wiring import Wiring, shuffle

EXAMPLES: Final = 100


def hold(wiring: Wiring, outputs: dict[str, Any]) -> None:
    expected, reference = run(wiring.program)
    assert outputs == expected
    assert wiring.fired == +reference.fired


@settings(max_examples=EXAMPLES)
@given(programs())
async def test_outputs_and_firings_are_those_of_the_reference(program: Program) -> None:
    wiring = Wiring(program)
    result = await wiring.wire().run(**wiring.inputs)
    hold(wiring, dict(result.outputs))


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


def drive(wiring: Wiring, choose: random.Random) -> dict[str, Any]:
    """Settle what is ready in any order, without an event loop."""
    flow = wiring.wire()
    shuffle(flow, choose)
    plan = flow.compile()
    scheduler = Scheduler(plan, "fail_fast", Reporter("a run"))
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
    assert scheduler.unsettled() == []
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


def test_every_construct_occurs() -> None:
    """The other tests would pass on empty flows too."""
    happened = Counter[str]()

    @settings(max_examples=300, derandomize=True, database=None)
    @given(programs())
    def count(program: Program) -> None:
        outputs, reference = run(program)
        happened.update({what: 1 for what, times in reference.happened.items() if times})
        happened["a value at the end"] += bool(outputs)
        happened["nested maps or loops"] += size_of(program.block) > len(program.block) + 3
        happened["ten nodes or more"] += size_of(program.block) >= 10

    count()
    assert {what: times for what, times in happened.items() if times < 10} == {}
    assert len(happened) == 16
