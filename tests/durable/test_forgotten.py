"""What is done again since it has taken a failure that is forgotten (S11.3)."""

from __future__ import annotations

import pytest

from dataflow import Flow, RunFailed, collect, each
from dataflow.base.failure import Failure
from dataflow.compiler.plan import FlowPlan
from dataflow.core.states import NodeState
from dataflow.durable.edits import invalidated_by
from dataflow.durable.graph_signature import shape_of
from dataflow.durable.journal_view import Past, PastFiring
from dataflow.stores import Store
from tests.support.quick_nodes import inc


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
    past = Past("run", "runs.db")
    for place in range(items):
        past.firings[f"inc[{place}]"] = PastFiring(state=NodeState.DONE)
        past.firings[f"inc[{place}]/told"] = PastFiring(state=NodeState.DONE)
    past.firings["after"] = PastFiring(state=NodeState.DONE)
    past.failures = frozenset(f"inc[{place}]" for place in failed)
    for path in past.failures:
        past.firings[path].state = NodeState.FAILED
    shape = shape_of(plan).write()
    return invalidated_by(plan, shape, past, shape, "refuse")[0]


def test_what_has_taken_a_failure_is_forgotten_in_its_item_and_outside() -> None:
    failures: list[list[int]] = [[], [1], [0, 2]]
    for failed in failures:
        expected = {f"inc[{place}]/told" for place in failed} | ({"after"} if failed else set())
        assert forgotten(flow(), 3, failed) == expected


async def test_the_node_that_a_map_is_named_by_is_not_done_again_for_a_failure_behind_it() -> None:
    called: list[str] = []

    async def paid(x: int) -> int:
        called.append(f"paid {x}")
        return x

    async def sent(x: int) -> int:
        called.append(f"sent {x}")
        if called.count("sent 2") == 1:
            raise ValueError("not yet")
        return x

    with Flow("items") as f:
        f.output("all", collect(f.add(sent, x=f.add(paid, x=each([1, 2])).out).out))
    kept = f.using(store=Store.memory())
    with pytest.raises(RunFailed) as caught:
        await kept.run()
    assert (await kept.resume(caught.value.result.run_id))["all"] == [1, 2]
    assert [called.count(call) for call in ("paid 1", "paid 2", "sent 2")] == [1, 1, 2]
