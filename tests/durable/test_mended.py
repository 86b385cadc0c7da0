"""Runs whose process died after a failure, and what is done again once it is forgotten (S11.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from dataflow import Flow, RunFailed, collect, each, fallback, flow
from dataflow.base.failure import Failure
from dataflow.compiler.plan import FlowPlan
from dataflow.core.states import NodeState
from dataflow.durable.edits import invalidated_by
from dataflow.durable.graph_signature import shape_of
from dataflow.durable.journal_view import Past, PastFiring
from dataflow.stores import Store
from tests.properties.ledger import Ledger
from tests.support.quick_nodes import add, inc

BROKEN: Final = {"is_broken": True}


async def ten() -> int:
    if BROKEN["is_broken"]:
        raise ValueError("not yet")
    return 10


async def listed() -> list[int]:
    return [1, 2]


async def total(xs: list[int]) -> int:
    return sum(xs)


def items(f: Flow) -> Any:
    return f.add(total, xs=collect(f.add(add, x=each(f.add(listed).out), y=f.add(ten).out).out)).out


def rounds(f: Flow) -> Any:
    failed = f.add(ten)
    with f.loop(name="up", limit=3) as it:
        v = it.carry(0)
        summed = f.add(add, x=v.out, y=failed.out)
        v.next(f.add(add, x=v.out, y=1).out)
        it.until(v.out, lambda v: v > 0)
    return f.add(total, xs=it.all(summed.out)).out


@flow
def within(f: Flow, x: int) -> int:
    found: Any = items(f)
    return f.add(add, x=found, y=x).out


def inside_a_flow(f: Flow) -> Any:
    return f.add(within, x=1).out


def instead(f: Flow) -> Any:
    made = collect(f.add(add, x=each([1, 2]), y=f.add(ten).out).out)
    return f.add(total, xs=fallback(made, [0])).out


FLOWS: Final[dict[Callable[[Flow], Any], int]] = {
    items: 23, rounds: 21, inside_a_flow: 24, instead: 23,
}  # fmt: skip


def made(wire: Callable[[Flow], Any], store: Store) -> Flow:
    with Flow("mended") as f:
        f.output("o", wire(f))
    return f.using(errors="continue", store=store)


async def fail(wire: Callable[[Flow], Any]) -> Ledger:
    BROKEN["is_broken"] = True
    ledger = Ledger()
    with pytest.raises(RunFailed, match="not yet"):
        await made(wire, ledger).run()
    BROKEN["is_broken"] = False
    return ledger


async def test_nothing_is_kept_that_came_of_the_failure_whichever_record_is_the_last(
    subtests: pytest.Subtests,
) -> None:
    for wire, output in FLOWS.items():
        with subtests.test(wire.__name__):
            ledger = await fail(wire)
            for count in range(1, len(ledger.journal()) + 1):
                result = await made(wire, ledger.kept(count)).resume(ledger.run)
                assert (count, result.status, result.outputs) == (count, "completed", {"o": output})


async def told(failure: Failure) -> str:
    return failure.message


async def after(texts: list[str]) -> int:
    return len(texts)


def forgetting() -> FlowPlan:
    with Flow("forgetting") as f:
        fails = f.add(inc, x=each(f.input("xs", list[int])))
        texts = collect(f.add(told, failure=fails.error).out)
        f.output("n", f.add(after, texts=texts).out)
    return f.compile()


def forgotten(plan: FlowPlan, items: int, failed: list[int]) -> set[str]:
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
        assert forgotten(forgetting(), 3, failed) == expected


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
