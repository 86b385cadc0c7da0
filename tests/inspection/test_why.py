"""Why a port, or a node, is what it is, back to the decision or failure (S3.3)."""

from __future__ import annotations

from typing import NamedTuple

import pytest

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


async def failed(flow: Flow) -> Result:
    with pytest.raises(RunFailed) as caught:
        await flow.run()
    return caught.value.result


async def test_a_skip_has_its_reasons_back_to_the_decision() -> None:
    with Flow("f") as flow:
        branch = flow.when(flow.input("n", int), lambda n: n > 3)
        first = flow.add(inc, n=branch.yes)
        second = flow.add(inc, n=first.out)
        third = flow.add(optional, n=second.out)
    result = await flow.run(n=1)
    assert result.why(third.out) == (
        "'optional.out' has no value\n"
        "  because optional: port 'n' has no value\n"
        "  because inc_2: port 'n' has no value\n"
        "  because inc: port 'n' has no value\n"
        "  because when: exit 'yes' not taken"
    )
    assert result.why(branch.yes) == "'when.yes' has no value\n  because when: exit 'yes' not taken"
    assert result.why(branch.no) == "'when.no' has a value"
    assert result.why("inc_2") == (
        "inc_2 is skipped\n"
        "  because inc_2: port 'n' has no value\n"
        "  because inc: port 'n' has no value\n"
        "  because when: exit 'yes' not taken"
    )
    with pytest.raises(DataflowError) as caught:
        result.get(third.out)
    assert str(caught.value) == (
        "DF0817 port 'optional.out': has no value: optional: port 'n' has no value; "
        "inc_2: port 'n' has no value; inc: port 'n' has no value; when: exit 'yes' not taken"
    )


async def test_a_field_left_out_says_so() -> None:
    with Flow("f") as flow:
        shot = flow.add(shoot, png="x")
        flow.add(optional, n=merge(flow.when(1, lambda n: n > 3).yes, flow.when(1, lambda n: n > 3).yes))
    result = await flow.run()
    assert (
        result.why(shot.out.error) == "'shoot.error' has no value\n  because shoot: port 'error' not emitted"
    )
    assert result.why(shot.out) == "'shoot.out' has no value\n  because shoot: port 'out' not emitted"
    assert result.why("optional.out") == (
        "'optional.out' has no value\n"
        "  because optional: port 'n' has no value\n"
        "  because merge: none of its sources has a value\n"
        "  because when: exit 'yes' not taken"
    )


async def test_a_failure_has_its_reasons_too() -> None:
    with Flow("f") as flow:
        first = flow.add(broken)
        second = flow.add(inc, n=first.out)
        third = flow.add(optional, n=second.out)
    result = await failed(flow)
    assert result.status == "failed"
    assert result.why(third.out) == "'optional.out' has no value\n  because broken failed: ValueError: no"
    assert result.why("broken") == "broken is failed\n  because broken failed: ValueError: no"
    assert result.why("inc") == "inc is not_run\n  because broken failed: ValueError: no"


async def test_an_output_is_explained_by_name() -> None:
    for fails in (False, True):
        with Flow("f") as flow:
            port = flow.add(broken).out if fails else flow.when(1, lambda n: n > 3).yes
            last = flow.add(inc, n=port)
            flow.output("y", last.out)
            flow.output("inc", 3)
        result = await failed(flow) if fails else await flow.run()
        head, *reasons = result.why("y").splitlines()
        assert head == "output 'y' has no value"
        assert reasons == result.why(last.out).splitlines()[1:]
        assert len(reasons) == (1 if fails else 2)
        assert result.why("inc").startswith("inc is ")  # a node before an output of the same name


async def test_the_signal_of_what_fails_with_a_default_has_a_value() -> None:
    with Flow("f") as flow:
        fails = flow.add(node(default=7)(broken))
        flow.output("y", fails.out)
    result = await flow.run()
    assert isinstance(result.get(fails.done), Signal)
    assert result.why(fails.done) == "'broken.$done' has a value"


async def test_a_failure_that_is_handled_is_told() -> None:
    with Flow("f") as flow:
        fails = flow.add(broken)
        flow.output("told", flow.add(logs, failure=fails.error).out)
        flow.add(optional, n=fails.out)
    result = await flow.run()
    assert result["told"] == "no"
    assert result.states["broken"] is NodeState.FAILED
    assert result.why(fails.out) == (
        "'broken.out' has no value\n"
        "  because broken: failed, and the failure is handled\n"
        "  because broken failed: ValueError: no"
    )
    assert result.why(fails.error) == "'broken.$error' has a value"


async def test_nodes_inside_maps_and_loops_are_asked_for_by_path() -> None:
    with Flow("f") as flow:
        branch = flow.when(each([1, 5]), lambda n: n > 3)
        flow.add(inc, n=branch.yes)
        with flow.loop(limit=2) as it:
            carry = it.carry(0)
            step = flow.add(node(inc).with_(name="step"), n=carry.out)
            it.until(step.out, lambda n: n == 1)
            carry.next(flow.add(node(inc).with_(name="next"), n=step.out).out)
    result = await flow.run()
    assert result.why("when[1]/inc") == "when[1]/inc is done"
    assert result.why("when[0]/inc") == (
        "when[0]/inc is skipped\n"
        "  because when[0]/inc: port 'n' has no value\n"
        "  because when[0]: exit 'yes' not taken"
    )
    assert (
        result.why("loop[0]/next") == "loop[0]/next is not_run\n  because loop[0]: no further round follows"
    )
    assert {path: state.value for path, state in result.states.items()} == {
        "when": "done",
        "when[0]": "done",
        "when[0]/inc": "skipped",
        "when[1]": "done",
        "when[1]/inc": "done",
        "loop": "done",
        "loop[0]/step": "done",
        "loop[0]/next": "not_run",
    }


async def test_names_in_paths_are_encoded() -> None:
    with Flow("f") as flow:
        flow.add(node(inc).with_(name="a/b.c [1]"), n=1)
    result = await flow.run()
    assert list(result.states) == ["a%2Fb%2Ec%20%5B1%5D"]
    assert result.why("a%2Fb%2Ec%20%5B1%5D") == "a%2Fb%2Ec%20%5B1%5D is done"
    assert result.why("a%2Fb%2Ec%20%5B1%5D.out") == "'a/b.c [1].out' has a value"


async def test_a_node_with_an_odd_name_that_never_ran_tells_why() -> None:
    with Flow("f") as flow:
        step = flow.add(node(optional).with_(name="a b"), n=1)
        flow.after(step, flow.add(inc, n=1).done)
    async with flow.start() as run:
        run.cancel("changed my mind")
        result = await run
    assert result.why(step.out) == "a%20b is not_run\n  because changed my mind"


async def test_an_input_of_a_run_that_never_began_did_not_settle() -> None:
    with Flow("f") as flow:
        n = flow.input("n", int, 3)
        flow.add(inc, n=n)
    async with flow.start() as run:
        run.cancel("changed my mind")
        result = await run
    assert result.why(n) == "'$in.n' did not settle: the run was cancelled"
