"""What a run came to: outputs, states, values of ports, and why a port is what it is (S3.3, S9.5)."""

from __future__ import annotations

from typing import Any, Final

import anyio
import pytest

from dataflow import (
    DataflowError,
    Failure,
    Flow,
    NameUnknown,
    NodeState,
    RunFailed,
    Signal,
    Store,
    collect,
    each,
    fallback,
    gather,
    merge,
    node,
)
from tests.compiler.typed_nodes import inc


async def broken(n: int = 0) -> int:
    raise ValueError("no")


async def test_an_output_without_a_value_or_that_does_not_exist_is_an_error() -> None:
    with Flow("f") as flow:
        branch = flow.when(1, lambda n: n > 3)
        flow.output("y", flow.add(inc, n=branch.yes).out)
        flow.output("z", flow.add(inc, n=flow.add(node(broken).with_(on_error="skip")).out).out)
    result = await flow.run()
    assert "y" not in result.outputs
    with pytest.raises(KeyError, match=r"^DF0817 output 'y': .*; when: exit 'yes' not taken"):
        result["y"]
    with pytest.raises(KeyError, match=r"^DF0817 output 'z': .*broken failed: ValueError: no"):
        result["z"]
    with pytest.raises(NameUnknown, match=r"^DF0818 output 'x':") as caught:
        result["x"]
    assert caught.value.diagnostics[0].available == ("y", "z")


async def test_an_output_behind_a_long_chain_names_its_two_ends() -> None:
    with Flow("f") as flow:
        port = flow.when(1, lambda n: n > 3).yes
        for _ in range(50):
            port = flow.add(inc, n=port).out
        flow.output("y", port)
    result = await flow.run()
    with pytest.raises(NameUnknown) as caught:
        result["y"]
    assert dict(caught.value.diagnostics[0].details)["reasons"] == (
        "inc_50: port 'n' has no value; inc_49: port 'n' has no value; … 47 more …; "
        "inc: port 'n' has no value; when: exit 'yes' not taken"
    )
    assert len(result.why("y").splitlines()) == 1 + 51


async def test_a_value_read_twice_is_two_values() -> None:
    async def listed() -> list[int]:
        return [1]

    with Flow("f") as flow:
        step = flow.add(listed)
        flow.output("y", step.out)
    result = await flow.run()
    result.get(step.out).append(2)
    assert result.get(step.out) == [1]
    assert result["y"] == [1]


async def test_signals_and_failures_that_nobody_wired_are_told_too() -> None:
    with Flow("f") as flow:
        done, skipped = flow.add(inc, n=1), flow.add(inc, n=flow.when(1, lambda n: n > 3).yes)
    result = await flow.run()
    assert isinstance(result.get(done.done), Signal)
    assert result.why(done.error) == (
        "'inc.$error' has no value\n  because inc: succeeded, so there is no failure"
    )
    assert result.why(skipped.done).splitlines()[0] == "'inc_2.$done' has no value"


async def test_a_port_that_the_flow_does_not_have_itself_is_an_error() -> None:
    with Flow("f") as flow:
        item = flow.add(inc, n=each([1]))
        flow.output("y", collect(merge(item.out, 0)))
        with flow.loop(limit=1) as it:
            carry = it.carry(0)
            step = flow.add(node(inc).with_(name="step"), n=carry.out)
            carry.next(step.out)
    other: Any = Flow("f").add(inc, n=2).out
    result = await flow.run()
    ports: list[tuple[Any, str]] = [
        (item.out, r"inc\.out.*map"), (carry.out, r"\$carry\.carry.*loop"), (step.out, r"step\.out.*loop"),
        ("nothing.out", r"nothing\.out.* y"), ("$in.x", r"\$in\.x.* y"), ("loop.nothing", "loop.*nothing"),
        ("inc.yse", "inc"), (other, r"inc\.out.*'f'"), (3, "int"), (gather(1), "Expression"),
        (".out", r"\.out"),
    ]  # fmt: skip
    for read in (result.get, result.why):
        for port, text in ports:
            with pytest.raises(DataflowError, match=text):
                read(port)


async def test_states_cannot_be_changed() -> None:
    result = await Flow("f").run()
    with pytest.raises(TypeError):
        result.states["x"] = NodeState.DONE  # type: ignore[index]


async def halved(n: int) -> int:
    if n % 2:
        raise ValueError(f"{n} is odd")
    await anyio.sleep(0.001)
    return n // 2


def handling(*, fails: bool = False) -> Flow:
    """Handle a failure in each way; one that nothing handles fails the run."""
    with Flow("f") as flow:
        flow.output("half", collect(flow.add(halved, n=each([1, 2, 3], on_error="skip")).out))
        routed = flow.add(node(halved).with_(name="routed"), n=1)
        flow.output("message", flow.add(told, failure=routed.error).out)
        flow.add(node(halved).with_(name="ignored", on_error="skip"), n=3)
        flow.output(
            "other", fallback(flow.add(node(halved).with_(name="first", on_error="skip"), n=5).out, 0)
        )
        flow.add(node(halved).with_(name="late", default=0, retries=1, timeout=0.01), n=7)
        if fails:
            flow.add(broken)
    return flow


async def told(failure: Failure) -> str:
    return failure.message


HANDLED: Final = {
    "halved[0]": "1 is odd", "halved[2]": "3 is odd", "routed": "1 is odd", "ignored": "3 is odd",
    "first": "5 is odd", "late": "7 is odd",
}  # fmt: skip


async def test_failures_that_were_handled_are_in_the_result_too() -> None:
    result = await handling().using(errors="continue").run()
    assert {one.path: one.message for one in result.failures} == HANDLED
    assert [one.attempt for one in result.failures if one.node == "late"] == [2]
    with pytest.raises(RunFailed) as caught:
        await handling(fails=True).using(errors="continue").run()
    assert {one.path for one in caught.value.result.failures} == {*HANDLED, "broken"}
    assert [one.path for one in caught.value.failures] == ["broken"]


async def test_the_time_of_a_run_that_was_too_long_is_a_failure_of_its_result() -> None:
    with Flow("f") as flow:
        flow.add(anyio.sleep_forever)
    with pytest.raises(RunFailed) as caught:
        await flow.using(timeout=0.01).run()
    assert [(one.path, one.type) for one in caught.value.result.failures] == [("", "NodeTimeout")]


@pytest.mark.parametrize("is_stored", [False, True])
async def test_durations_are_those_of_all_attempts_and_sessions(is_stored: bool) -> None:
    """A call that waits, one that is quick, attempts together, loops, maps, flows; neither asks nor skips."""
    calls: list[int] = []

    async def slow(n: int) -> int:
        calls.append(n)
        await anyio.sleep(0.003)
        if calls.count(n) < 2:
            raise ValueError("again")
        return n

    with Flow("inner") as inner:
        inner.output("y", inner.add(node(slow).with_(retries=3), n=inner.input("n", int)).out)
    with Flow("f") as flow:
        flow.output("y", collect(flow.add(inner, n=each([1, 2])).out.y))
        flow.output("z", flow.add(inc, n=flow.ask(int, "How many?").out).out)
        flow.add(inc, n=flow.when(1, lambda n: n > 3).yes)
    settings = {"store": Store.memory(), "max_concurrency": 1} if is_stored else {"max_concurrency": 1}
    paused = await flow.using(**settings).run()
    before = dict(paused.durations)
    await anyio.sleep(0.05)
    given = paused.run_id if is_stored else paused
    result = await flow.using(**settings).resume(given, {paused.asks[0].id: 1})
    durations = result.durations
    assert set(durations) - set(before) == {"inc"}
    assert {path: durations[path] for path in before} == pytest.approx(before, abs=0.01)
    for item in ("inner[0]", "inner[1]"):
        assert durations[item] >= durations[f"{item}/slow"] >= 0.0055  # of two attempts
    assert max(durations.values()) < 0.05
