"""Why a port, or a node, is what it is, back to the decision or failure (S3.3)."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from syrupy.assertion import SnapshotAssertion

from dataflow import (
    SKIP,
    DataflowError,
    Failure,
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


class Shot(NamedTuple):
    png: Maybe[str] = SKIP
    error: Maybe[str] = SKIP


async def inc(n: int) -> int:
    return n + 1


async def broken(n: int = 0) -> int:
    raise ValueError("no")


async def shoot(png: str) -> Shot:
    return Shot(png=png)


async def optional(n: int = 0) -> int:
    return n


async def logs(failure: Failure) -> str:
    return failure.message


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
