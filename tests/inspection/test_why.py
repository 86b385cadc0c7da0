"""Why a port, or a node, is what it is, of a run or from its journal alone (S3.3)."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from syrupy.assertion import SnapshotAssertion

from dataflow import (
    SKIP,
    DataflowError,
    Flow,
    Maybe,
    NodeState,
    Result,
    RunFailed,
    Signal,
    each,
    merge,
    node,
)
from dataflow.inspection.stored_reasons import StoredReasons, plan_if_unedited
from dataflow.inspection.stored_run import PastRun, read_run
from dataflow.runtime.reasons import ReasonKind
from dataflow.stores.memory import MemoryStore
from tests.compiler.typed_nodes import inc, logs


class Shot(NamedTuple):
    png: Maybe[str] = SKIP
    error: Maybe[str] = SKIP


async def broken(n: int = 0) -> int:
    raise ValueError("no")


async def shoot(png: str) -> Shot:
    return Shot(png=png)


async def optional(n: int = 0) -> int:
    return n


def failed(flow: Flow) -> Result:
    with pytest.raises(RunFailed) as caught:
        flow.run_sync()
    return caught.value.result


def test_a_skip_has_its_reasons_back_to_the_decision(snapshot: SnapshotAssertion) -> None:
    with Flow("f") as flow:
        branch = flow.when(flow.input("n", int), lambda n: n > 3)
        first = flow.add(inc, n=branch.yes)
        second = flow.add(inc, n=first.out)
        third = flow.add(optional, n=second.out)
    result = flow.run_sync(n=1)
    asked = (third.out, branch.yes, branch.no, "inc_2")
    assert "\n".join(result.why(one) for one in asked) == snapshot
    with pytest.raises(
        DataflowError, match=r"^DF0817 port 'optional\.out': has no value: optional: port 'n' "
    ):
        result.get(third.out)


def test_a_field_left_out_and_a_merge_say_so(snapshot: SnapshotAssertion) -> None:
    with Flow("f") as flow:
        shot = flow.add(shoot, png="x")
        flow.add(optional, n=merge(flow.when(1, lambda n: n > 3).yes, flow.when(1, lambda n: n > 3).yes))
    result = flow.run_sync()
    assert "\n".join(result.why(one) for one in (shot.out.error, shot.out, "optional.out")) == snapshot


def test_a_failure_has_its_reasons_too(snapshot: SnapshotAssertion) -> None:
    with Flow("f") as flow:
        first = flow.add(broken)
        second = flow.add(inc, n=first.out)
        third = flow.add(optional, n=second.out)
    result = failed(flow)
    assert "\n".join(result.why(one) for one in (third.out, "broken", "inc")) == snapshot


def test_failures_that_are_handled_are_told(snapshot: SnapshotAssertion) -> None:
    with Flow("f") as flow:
        defaults = flow.add(node(default=7)(broken))
        fails = flow.add(broken)
        flow.output("told", flow.add(logs, failure=fails.error).out)
        flow.add(optional, n=fails.out)
    result = flow.run_sync()
    assert result["told"] == "no"
    assert result.states["broken_2"] is NodeState.FAILED
    assert isinstance(result.get(defaults.done), Signal)
    assert "\n".join(result.why(one) for one in (defaults.done, fails.out, fails.error)) == snapshot


def test_nodes_inside_maps_and_loops_are_asked_for_by_path(snapshot: SnapshotAssertion) -> None:
    with Flow("f") as flow:
        branch = flow.when(each([1, 5]), lambda n: n > 3)
        flow.add(inc, n=branch.yes)
        with flow.loop(limit=2) as it:
            carry = it.carry(0)
            step = flow.add(node(inc).with_(name="step"), n=carry.out)
            it.until(step.out, lambda n: n == 1)
            carry.next(flow.add(node(inc).with_(name="next"), n=step.out).out)
    result = flow.run_sync()
    states = [f"{path}: {state.value}" for path, state in sorted(result.states.items())]
    reasons = [result.why(path) for path in ("when[1]/inc", "when[0]/inc", "loop[0]/next")]
    assert "\n".join([*reasons, *states]) == snapshot


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
