"""What is done again since it has taken a failure that is forgotten (S11.3)."""

from __future__ import annotations

import itertools
import sys

import pytest

from dataflow import Flow, collect, each
from dataflow.failure import Failure
from dataflow.forgetting import forgotten_by
from dataflow.past import Past, PastFiring
from dataflow.plan import FlowPlan
from dataflow.shape import shape_of
from dataflow.states import NodeState
from tests.quick_nodes import inc


async def told(failure: Failure) -> str:
    return failure.message


async def after(texts: list[str]) -> int:
    return len(texts)


def flow() -> FlowPlan:
    """Wire a node that may fail in the items of a map, one that is told of it there, and one of all."""
    with Flow("forgetting") as f:
        fails = f.add(inc, x=each(f.input("xs", list[int])))
        texts = collect(f.add(told, failure=fails.error).out)
        f.output("n", f.add(after, texts=texts).out)
    return f.compile()


def forgotten(plan: FlowPlan, items: int, failed: list[int]) -> set[str]:
    """Forget the failures of some items in a run all of whose other firings are done."""
    past = Past("run")
    for place in range(items):
        past.firings[f"inc[{place}]"] = PastFiring(state=NodeState.DONE)
        past.firings[f"inc[{place}]/told"] = PastFiring(state=NodeState.DONE)
    past.firings["after"] = PastFiring(state=NodeState.DONE)
    past.failures = frozenset(f"inc[{place}]" for place in failed)
    for path in past.failures:
        past.firings[path].state = NodeState.FAILED
    shape = shape_of(plan).write()
    return forgotten_by(plan, shape, past, shape, "refuse")[0]


@pytest.mark.parametrize("failed", [[], [1], [0, 2]])
def test_what_has_taken_a_failure_is_forgotten_in_its_item_and_outside(failed: list[int]) -> None:
    expected = {f"inc[{place}]/told" for place in failed} | ({"after"} if failed else set())
    assert forgotten(flow(), 3, failed) == expected


def test_the_work_grows_with_the_failures_and_not_with_their_square() -> None:
    plan = flow()

    def calls(failed: int) -> int:
        counted = itertools.count()
        sys.setprofile(lambda _frame, event, _argument: event == "call" and next(counted) and None)
        try:
            forgotten(plan, failed, list(range(failed)))
        finally:
            sys.setprofile(None)
        return next(counted)

    assert calls(200) < 3 * calls(100)
