"""Why a port of a stored run is what it is, as data, from its journal alone (S3.3)."""

from __future__ import annotations

from typing import Any

from dataflow import SKIP, Flow, Maybe, RunFailed
from dataflow.inspection.stored_reasons import StoredReasons, plan_if_unedited
from dataflow.inspection.stored_run import PastRun, read_run
from dataflow.runtime.reasons import ReasonKind
from dataflow.stores.memory import MemoryStore


async def positive(x: int) -> Maybe[int]:
    if x == 0:
        raise ValueError("no zero")
    return x if x > 0 else SKIP


async def double(x: int) -> int:
    return 2 * x


async def triple(x: int) -> int:
    return 3 * x


def checked(then: Any = double) -> Flow:
    with Flow("checked") as flow:
        found = flow.add(positive, x=flow.input("x", int))
        flow.output("out", flow.add(then, x=found.out).out)
    return flow


async def stored(x: int) -> tuple[MemoryStore, PastRun]:
    store = MemoryStore()
    try:
        await checked().using(store=store).run(x=x)
    except RunFailed as error:
        assert error.result.status == "failed"  # noqa: PT017 - the run that is read is the failed one
    return store, read_run(store, store.runs()[0])


async def test_a_skip_leads_to_the_node_that_decided_it_and_the_flow_may_have_more() -> None:
    _, found = await stored(-1)
    reasons = StoredReasons(found)
    explanation = reasons.explain("out")
    assert explanation is not None
    assert (explanation.reasons[0].kind, explanation.reasons[0].place) == (ReasonKind.SKIP, "out")
    assert explanation.reasons[-1].place == "positive"
    assert not reasons.is_complete(explanation, "out")


async def test_a_failure_leads_to_its_text() -> None:
    _, found = await stored(0)
    explanation = StoredReasons(found).explain("positive.out")
    assert explanation is not None
    assert explanation.reasons[0].kind is ReasonKind.FAILURE
    assert explanation.reasons[-1].text == "positive failed: ValueError: no zero"


async def test_an_unknown_name_has_no_explanation() -> None:
    _, found = await stored(1)
    for name in ("nobody", "double.nothing"):
        assert StoredReasons(found).explain(name) is None


async def test_a_flow_has_its_plan_for_a_run_until_it_is_edited() -> None:
    store, found = await stored(1)
    plan = plan_if_unedited(found, checked(), store)
    assert plan is not None
    assert list(plan.outputs) == ["out"]
    assert plan_if_unedited(found, checked(triple), store) is None
