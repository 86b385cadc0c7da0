"""In which scope each node fires, and in which order sources come before their readers (S2, S6.3, S7.1)."""

from __future__ import annotations

from collections.abc import Callable

from dataflow import Flow, collect, each
from tests.compiler.typed_nodes import add, inc, total
from tests.support.codes import codes

Wire = Callable[[Flow], object]


def two_maps_at_once(flow: Flow) -> None:
    flow.add(add, a=each(flow.input("xs", list[int])), b=each(flow.input("ys", list[int])))


def loop_over_two_maps(flow: Flow) -> None:
    with flow.loop(limit=1) as it:
        carry = it.carry(each(flow.input("xs", list[int])))
        carry.next(flow.add(add, a=carry.out, b=each(flow.input("ys", list[int]))).out)
    flow.output("y", collect(carry.final))


def collect_too_often(flow: Flow) -> None:
    flow.output("y", collect(collect(flow.add(inc, n=each(flow.input("xs", list[int]))).out)))


def collect_a_round(flow: Flow) -> None:
    with flow.loop(limit=1) as it:
        carry = it.carry(0)
        carry.next(flow.add(total, numbers=collect(carry.out)).out)


def output_of_each(flow: Flow) -> None:
    flow.output("y", each(flow.input("xs", list[int])))


REFUSED: dict[Wire, list[str]] = {
    two_maps_at_once: ["DF0320 add"],
    loop_over_two_maps: ["DF0319 loop"],
    collect_too_often: ["DF0321 outputs.y"],
    collect_a_round: ["DF0321 total.numbers"],
    output_of_each: ["DF0319 outputs.y"],
}


def test_impossible_scopes_are_problems() -> None:
    for wire, problems in REFUSED.items():
        flow = Flow()
        wire(flow)
        assert codes(flow.check()) == problems
