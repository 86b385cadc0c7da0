"""What wiring hands back: branches, loops and carried ports (S6.1, S16.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest

from dataflow import Flow, Loop, NameUnknown, merge
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


KINDS: tuple[Literal["low"], Literal["high"]] = ("low", "high")


def pick(n: int) -> Any:
    return {0: "low", 1: "high", 2: None}.get(n, "other")


def test_an_unknown_case_of_a_switch_is_refused() -> None:
    exits: Any = Flow().switch(1, pick, KINDS)
    with pytest.raises(NameUnknown, match="DF0219") as caught:
        exits["hihg"]
    assert isinstance(caught.value, KeyError)
    assert caught.value.diagnostics[0].available == ("low", "high")


async def decide(n: int) -> bool:
    return n > 3


def test_a_branch_with_an_invalid_config_is_a_problem() -> None:
    cases: list[tuple[str, Callable[[Any], object]]] = [
        ("DF0503 when.config.predicate", lambda f: f.when(1, "no function")),
        ("DF0415 switch.config.cases.0", lambda f: f.switch(1, pick, [1, 2])),
        ("DF0503 switch.config.pick", lambda f: f.switch(1, 3, ["a"])),
        ("DF0503 when.config.predicate", lambda f: f.when(1, decide)),
        ("DF0503 switch.config.pick", lambda f: f.switch(1, decide, ["a"])),
    ]
    for problem, wire in cases:
        built = Flow()
        wire(built)
        assert problem in codes(built.check())
