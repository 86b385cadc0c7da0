"""A flow is acyclic; the nodes of a cycle are reported (S6.3)."""

from __future__ import annotations

from collections.abc import Callable

from dataflow import Diagnostic, Flow
from tests.compiler.typed_nodes import inc
from tests.support.codes import codes


async def later(n: int = 0, m: int = 0) -> int:
    return n + m


Wire = Callable[[Flow], object]


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


BACK_AND_FORTH = (("later", "later_2.n"), ("later_2", "later.n"))
CYCLES: list[tuple[Wire, str]] = [
    (by_name(*BACK_AND_FORTH), "later -> later_2 -> later"),
    (
        by_name(("later_2", "later_3.n"), ("later_3", "later_2.n"), ("later_3", "later.n")),
        "later_2 -> later_3 -> later_2",
    ),
    (through_after, "later -> later_2 -> later"),
    (through_a_loop, "later -> loop -> later"),
]


def test_all_nodes_of_a_cycle_are_reported() -> None:
    for wire, cycle in CYCLES:
        flow = Flow()
        wire(flow)
        (problem,) = flow.check()
        assert isinstance(problem, Diagnostic)
        assert (problem.code, problem.details) == ("DF0316", (("nodes", cycle),))


def test_nodes_behind_a_cycle_are_not_part_of_it_and_others_are_checked() -> None:
    flow = Flow()
    by_name(*BACK_AND_FORTH, ("later_2", "later_3.n"))(flow)
    flow.output("y", flow.add(inc, n="x").out)  # type: ignore[arg-type]
    assert codes(flow.check()) == ["DF0316 later", "DF0601 inc.n"]
