"""What a run came to: outputs, states, values of ports, and why a port is what it is (S3.3, S9.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from dataflow import (
    SKIP,
    DataflowError,
    Flow,
    Maybe,
    NodeState,
    Result,
    RunFailed,
    Signal,
    collect,
    each,
    gather,
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


async def failed(flow: Flow) -> Result:
    with pytest.raises(RunFailed) as caught:
        await flow.run()
    return caught.value.result


async def test_outputs_are_read_by_name() -> None:
    with Flow("f") as flow:
        flow.output("y", flow.add(inc, n=1).out)
        flow.output("nothing", None)
    result = await flow.run()
    assert (result["y"], result["nothing"]) == (2, None)
    assert isinstance(result.outputs, Mapping)
    assert result.status == "completed"
    assert repr(result).startswith(f"Result(run_id={result.run_id!r}, status='completed', outputs=")


async def test_an_output_that_does_not_exist_is_told_with_the_choices() -> None:
    with Flow("f") as flow:
        flow.output("x", 1)
        flow.output("y", 2)
    result = await flow.run()
    with pytest.raises(KeyError) as caught:
        result["z"]
    assert caught.value.args == ("flow 'f' has no output 'z'; choices: x, y",)


async def test_an_output_without_a_value_tells_why() -> None:
    with Flow("f") as flow:
        branch = flow.when(1, lambda n: n > 3)
        flow.output("y", flow.add(inc, n=branch.yes).out)
    result = await flow.run()
    assert "y" not in result.outputs
    with pytest.raises(KeyError) as caught:
        result["y"]
    assert caught.value.args == (
        "output 'y' has no value: inc: port 'n' has no value; when: exit 'yes' not taken",
    )


async def test_an_output_behind_a_long_chain_tells_its_two_ends() -> None:
    with Flow("f") as flow:
        port = flow.when(1, lambda n: n > 3).yes
        for _ in range(50):
            port = flow.add(inc, n=port).out
        flow.output("y", port)
    result = await flow.run()
    with pytest.raises(KeyError) as caught:
        result["y"]
    (text,) = caught.value.args
    assert text == (
        "output 'y' has no value: inc_50: port 'n' has no value; inc_49: port 'n' has no value; "
        "… 47 more …; inc: port 'n' has no value; when: exit 'yes' not taken"
    )
    assert len(result.why("y").splitlines()) == 1 + 51


async def test_an_output_that_failed_tells_why() -> None:
    with Flow("f") as flow:
        flow.output("y", flow.add(inc, n=flow.add(broken).out).out)
    result = await failed(flow)
    with pytest.raises(KeyError) as caught:
        result["y"]
    assert caught.value.args == ("output 'y' has no value: broken failed: ValueError: no",)


async def test_an_output_that_never_settled_says_so() -> None:
    with Flow("f") as flow:
        flow.add(broken)
        waits = flow.add(optional, n=1)
        flow.after(waits, flow.add(inc, n=1).done)
        flow.output("y", waits.out)
    async with flow.start() as run:
        run.cancel("changed my mind")
        result = await run
    assert result.status == "cancelled"
    with pytest.raises(KeyError) as caught:
        result["y"]
    assert caught.value.args == ("output 'y' has no value: it did not settle",)
    with pytest.raises(DataflowError) as error:
        result.get(waits.out)
    assert str(error.value) == "port 'optional.out' has no value: it did not settle"
    assert result.why(waits.out) == "optional is not_run\n  because changed my mind"
    assert result.why("optional") == "optional is not_run\n  because changed my mind"


async def test_ports_of_the_flow_are_read() -> None:
    with Flow("f") as flow:
        n = flow.input("n", int)
        step = flow.add(inc, n=n)
        shot = flow.add(shoot, png="x")
        waits = flow.add(optional, n=1)
        flow.after(waits, step.done)
        with flow.loop(limit=2) as it:
            carry = it.carry(0)
            carry.next(carry.out)
        last = carry.final
    result = await flow.run(n=4)
    assert result.get(n) == 4
    assert result.get(step.out) == 5
    assert result.get(shot.out.png) == "x"
    assert result.get(last) == 0
    assert isinstance(result.get(step.done), Signal)
    by_name: list[Any] = [result.get(text) for text in ("inc", "inc.out", "$in.n", "shoot.png", "loop.carry")]
    assert by_name == [5, 5, 4, "x", 0]
    whole: Any = step
    assert result.get(whole) == 5


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


def inside() -> tuple[Flow, dict[str, Any]]:
    with Flow("f") as flow:
        item = flow.add(inc, n=each([1]))
        joined = merge(item.out, 0)
        flow.output("y", collect(joined))
        with flow.loop(limit=1) as it:
            carry = it.carry(0)
            step = flow.add(node(inc).with_(name="step"), n=carry.out)
            carry.next(step.out)
    ports: dict[str, Any] = {
        "an item": item.out,
        "a carried port": carry.out,
        "a node of a loop": step.out,
        "a node that is not there": "nothing.out",
        "an input that is not there": "$in.x",
        "a port that is not there": "loop.nothing",
    }
    return flow, ports


WITHIN = (
    "is inside a map, a loop or a flow: collect it, take the loop's result, or make it an output of the flow"
)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("an item", f"port 'inc.out' {WITHIN}"),
        ("a carried port", f"port '$carry.carry' {WITHIN}"),
        ("a node of a loop", f"port 'step.out' {WITHIN}"),
        ("a node that is not there", "the flow has no port 'nothing.out'; choices: y"),
        ("an input that is not there", "the flow has no port '$in.x'; choices: y"),
        ("a port that is not there", "node 'loop' has no output port 'nothing'; there are none"),
    ],
)
async def test_a_port_that_the_flow_has_not_itself_is_told(place: str, text: str) -> None:
    flow, ports = inside()
    result = await flow.run()
    with pytest.raises(DataflowError) as caught:
        result.get(ports[place])
    assert str(caught.value) == text
    with pytest.raises(DataflowError) as caught:
        result.why(ports[place])
    assert str(caught.value) == text.replace("choices: y", "choices: inc, loop, y")  # or a node alone


async def test_a_misspelt_port_is_told_with_the_choices() -> None:
    flow = Flow("f")
    flow.when(1, lambda n: n > 3)
    result = await flow.run()
    for ask in (result.get, result.why):
        with pytest.raises(DataflowError) as caught:
            ask("when.yse")
        assert str(caught.value) == "node 'when' has no output port 'yse'; choices: yes, no"


async def test_a_port_of_another_flow_is_told() -> None:
    first, second = Flow("f"), Flow("f")
    first.add(inc, n=1)
    other = second.add(inc, n=2)
    result = await first.run()
    with pytest.raises(DataflowError, match="belongs to flow 'f', not to the one that ran"):
        result.get(other.out)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (3, "expected a port, a step or text like 'node.port', found int"),
        (gather(1), "expected a port, a step or text like 'node.port', found Expression"),
        (".out", "'.out' is no source: write `node.port`, `node` or `$in.name`"),
    ],
)
async def test_what_is_no_port_is_told(given: object, text: str) -> None:
    result = await Flow("f").run()
    with pytest.raises(DataflowError) as caught:
        result.get(given)
    assert str(caught.value) == text


async def test_states_cannot_be_changed() -> None:
    result = await Flow("f").run()
    with pytest.raises(TypeError):
        result.states["x"] = NodeState.DONE  # type: ignore[index]
