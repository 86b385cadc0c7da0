"""What compiling large flows costs, counted in calls of functions."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable

import pytest

from dataflow import Flow
from tests.behaviour.nodes import inc
from tests.nodes.formats.cagent.workflows import flow_of

CALLS = ("call", "c_call")


def calls_in(work: Callable[[], object]) -> int:
    """Do some work and count the calls in it, those of functions written in C included."""
    counted = itertools.count()
    sys.setprofile(lambda _frame, event, _argument: event in CALLS and next(counted) and None)
    try:
        work()
    finally:
        sys.setprofile(None)
    return next(counted)


#: Makes the feedback edges of a chain, each with its source and its head, of the nodes and their number.
Edges = Callable[[int, int], list[tuple[int, int]]]


def apart(nodes: int, count: int) -> list[tuple[int, int]]:
    step = nodes // count
    return [((number + 1) * step - 1, number * step) for number in range(count)]


def nested(nodes: int, count: int) -> list[tuple[int, int]]:
    return [(nodes - 1 - number, number) for number in range(count)]


def overlapping(nodes: int, count: int) -> list[tuple[int, int]]:
    step = nodes // count
    return [(min(nodes - 1, (number + 2) * step - 1), number * step) for number in range(count)]


def reaching_on(nodes: int, count: int) -> list[tuple[int, int]]:
    return [(nodes - 1 - count + number, number) for number in range(count)]


def compiling(edges: Edges, count: int) -> int:
    """Count the calls that compiling a chain with so many feedback edges takes."""
    nodes = 4 * count
    f = Flow("chain")
    x = f.input("x", int)
    for _ in range(nodes):
        x = f.add(inc, x=x).out
    f.output("x", x)
    ids = list(f.wiring.block.nodes)
    for source, head in edges(nodes, count):
        f.connect(ids[source], f"{ids[head]}.x", feedback=True, limit=3)
    return calls_in(f.compile)


def test_the_work_grows_with_the_feedback_edges() -> None:
    compiling(apart, 2)  # what is loaded on first use
    assert compiling(apart, 40) < 2.5 * compiling(apart, 20)


@pytest.mark.parametrize("edges", [nested, overlapping, reaching_on])
def test_the_work_grows_with_the_nodes_and_the_loops_that_each_of_them_is_in(edges: Edges) -> None:
    """Twice as many nodes, each of them in twice as many loops, which each of their values leaves."""
    compiling(edges, 2)
    assert compiling(edges, 60) < 4.2 * compiling(edges, 30)


def test_an_earlier_output_that_a_step_of_cagent_is_told_takes_few_calls() -> None:
    """Of so many steps and of twice and three times as many, what grows with their square is told apart."""

    def loading(steps: int) -> int:
        entries = "".join(f"  - {{id: s{number}, type: agent, name: x}}\n" for number in range(steps))
        return calls_in(lambda: flow_of(f"workflow:\n{entries}"))

    loading(2)
    few = 20
    each = (loading(3 * few) - 2 * loading(2 * few) + loading(few)) / few**2
    assert each < 150
