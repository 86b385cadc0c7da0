"""A flow is acyclic; a cycle is told whole (S6.3)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dataflow import Flow


async def inc(n: int) -> int:
    return n + 1


async def later(n: int = 0, m: int = 0) -> int:
    return n + m


Wire = Callable[[Flow], object]


CYCLE = "; a flow is acyclic: what repeats goes into a loop, or comes back by a feedback edge"


def by_name(*edges: tuple[str, str]) -> Wire:
    def wire(flow: Flow) -> None:
        for _ in range(3):
            flow.add(later)
        for source, target in edges:
            flow.connect(source, target)

    return wire


def through_after(flow: Flow) -> None:
    first, second = flow.add(later), flow.add(later)
    flow.after(first, second.done)
    flow.after(second, first.done)


def through_a_loop(flow: Flow) -> None:
    flow.add(later)
    with flow.loop(limit=1) as it:
        carry = it.carry(0)
        carry.next(carry.out)
        flow.add(later)
        flow.connect("later", "later_2.n")
    flow.output("y", carry.final)
    flow.connect("loop.carry", "later.n")


def into_its_own_first_value(flow: Flow) -> None:
    with flow.loop(limit=1) as it:
        carry = it.carry(0)
        step = flow.add(inc, n=carry.out)
        again = it.carry(step.out)
        again.next(again.out)
        carry.next(step.out)


@pytest.mark.parametrize(
    ("wire", "cycle"),
    [
        (by_name(("later", "later.n")), "later -> later"),
        (by_name(("later", "later_2.n"), ("later_2", "later.n")), "later -> later_2 -> later"),
        (
            by_name(("later", "later_2.n"), ("later_2", "later_3.n"), ("later_3", "later.n")),
            "later -> later_2 -> later_3 -> later",
        ),
        (
            by_name(("later_2", "later_3.n"), ("later_3", "later_2.n"), ("later_3", "later.n")),
            "later_2 -> later_3 -> later_2",
        ),
        (through_after, "later -> later_2 -> later"),
        (through_a_loop, "later -> loop -> later"),
    ],
)
def test_a_cycle_is_told_whole(wire: Wire, cycle: str) -> None:
    flow = Flow()
    wire(flow)
    assert flow.check() == [f"the nodes form a cycle: {cycle}{CYCLE}"]


def test_a_loop_cannot_begin_with_what_is_inside_it() -> None:
    flow = Flow()
    into_its_own_first_value(flow)
    assert flow.check() == [
        (
            "'$carry.carry_2' of loop 'loop' begins with 'inc.out', which is inside the loop; "
            "add that node before the loop"
        )
    ]


def test_what_hangs_behind_a_cycle_is_checked_when_the_cycle_is_gone() -> None:
    flow = Flow()
    by_name(("later", "later_2.n"), ("later_2", "later.n"), ("later_2", "later_3.n"))(flow)
    flow.output("y", flow.add(inc, n="x").out)  # type: ignore[arg-type]
    assert flow.check() == [
        f"the nodes form a cycle: later -> later_2 -> later{CYCLE}",
        "port 'inc.n': expected int, found str 'x'",
    ]


async def test_a_long_chain_needs_no_recursion() -> None:
    flow = Flow()
    step = flow.add(inc, n=0)
    for _ in range(3000):
        step = flow.add(inc, n=step.out)
    flow.output("y", step.out)
    assert (await flow.run())["y"] == 3001
