"""What a run came to: outputs, states, values of ports, and why a port is what it is (S3.3, S9.5)."""

from __future__ import annotations

from typing import Any

import pytest

from dataflow import (
    DataflowError,
    Flow,
    NameUnknown,
    NodeState,
    Signal,
    collect,
    each,
    gather,
    merge,
    node,
)


async def inc(n: int) -> int:
    return n + 1


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
        (item.out, r"inc\.out.*map"),
        (carry.out, r"\$carry\.carry.*loop"),
        (step.out, r"step\.out.*loop"),
        ("nothing.out", r"nothing\.out.* y"),
        ("$in.x", r"\$in\.x.* y"),
        ("loop.nothing", "loop.*nothing"),
        ("inc.yse", "inc"),
        (other, r"inc\.out.*'f'"),
        (3, "int"),
        (gather(1), "Expression"),
        (".out", r"\.out"),
    ]
    for read in (result.get, result.why):
        for port, text in ports:
            with pytest.raises(DataflowError, match=text):
                read(port)


async def test_states_cannot_be_changed() -> None:
    result = await Flow("f").run()
    with pytest.raises(TypeError):
        result.states["x"] = NodeState.DONE  # type: ignore[index]
