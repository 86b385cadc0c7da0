"""What wiring hands back: steps, branches, loops and carried ports (S6.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dataflow import Flow, Loop, merge
from dataflow.core.functions import import_function
from dataflow.core.nodetype import derive
from dataflow.core.wiring import (
    All,
    Block,
    Literally,
    Placed,
    PlacedNode,
    Reference,
    Wiring,
)
from dataflow.packs.registry import find_type
from tests.behaviour.flow_parts import inc
from tests.support.codes import codes


def test_outputs_of_a_loop_are_named_apart() -> None:
    flow = Flow()
    with flow.loop() as it:
        carry = it.carry(0)
        step = flow.add(inc, x=carry.out)
        carry.next(step.out)
        named = [
            it.result(step.out),
            it.result(step.out),
            it.result(step.done),
            it.result(merge(step.out, 1)),
        ]
        more = it.result(merge(step.out, 2))
    assert [repr(port) for port in (*named, more)] == [
        "'loop.inc'",
        "'loop.inc'",
        "'loop.inc_done'",
        "'loop.result'",
        "'loop.result_2'",
    ]


Wire = Callable[[Flow, Loop, Any], object]


def same(_flow: Flow, _it: Loop, carry: Any) -> None:
    carry.next(carry.out)


def both(*wires: Wire) -> Wire:
    return lambda flow, it, carry: [wire(flow, it, carry) for wire in wires]


def begins_inside(flow: Flow, it: Loop, _: Any) -> None:
    it.carry(flow.add(inc, x=1).out).next(1)


def test_a_loop_is_checked() -> None:
    decide: Any = inc  # an async function
    until: Wire = lambda _flow, it, carry: it.until(carry.out, lambda n: n > 3)  # noqa: E731 - a row
    cases: list[tuple[Wire, list[str]]] = [
        (same, []),
        (both(same, same), ["DF0204 loop.carry.carry.next"]),
        (both(same, until, until), ["DF0204 loop.until"]),
        (both(same, begins_inside), ["DF0218 loop.carry.carry_2"]),
        (both(same, lambda _flow, it, carry: it.until(carry.out, decide)), ["DF0503 loop.until"]),
        (
            lambda flow, _it, carry: carry.next(flow.add(inc, x=carry.out)),
            ["DF0216 loop.carry.carry.next", "DF0308 loop.carry.carry.next"],
        ),
    ]
    for wire, problems in cases:
        flow = Flow()
        with flow.loop() as it:
            wire(flow, it, it.carry(0))
        assert codes(flow.check()) == problems


def test_all_anywhere_but_at_the_end_of_a_loop_is_a_problem() -> None:
    nodes: dict[str, Placed] = {"inc": PlacedNode("inc", type=derive(inc), inputs={"x": Literally(1)})}
    wiring = Wiring("f", block=Block(nodes, outputs={"o": All(Reference("inc"))}))
    flow = Flow.from_wiring(wiring, find_type, import_function)
    assert codes(flow.check()) == ["DF0329 outputs.o"]
