"""Raw nodes in a run: what they are given, what becomes of what they return (S1.3, S3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dataflow import (
    Config,
    EventKind,
    ExecutionContext,
    Flow,
    NodeOutput,
    Port,
    Ports,
    RunFailed,
    collect,
    each,
    node,
    this_firing,
    threaded,
)  # fmt: skip


class Texts(Config):
    names: tuple[str, ...] = ("a", "b")


def ports(config: Texts) -> Ports:
    return Ports(
        {name: Port(str, default=f"no {name}") for name in config.names}
        | {"more": Port(int, many=True, default=())},
        {"text": str, "rest": Port(str, conditional=True)},
    )


@node(ports=ports)
async def joins(inputs: Mapping[str, Any], context: ExecutionContext | None, config: Texts) -> NodeOutput:
    names = [inputs[name] for name in config.names]
    told = {"more": inputs["more"], "ports": list(inputs)}
    return NodeOutput({"text": " ".join(names)}, context=context, metadata=told)


@node(ports=lambda _: Ports({"x": int}, {"y": int}))
async def fails_if_odd(inputs: Mapping[str, Any]) -> NodeOutput:
    if inputs["x"] % 2:
        return NodeOutput(status="error", metadata={"error": f"cannot halve {inputs['x']}", "tried": [1]})
    return NodeOutput({"y": inputs["x"] // 2}, metadata={"halved": inputs["x"]})


async def talk(text: str) -> ExecutionContext:
    return ExecutionContext(text)


async def number(x: int) -> int:
    return x


async def test_inputs_are_mapped_by_name_and_what_is_not_connected_has_its_default() -> None:
    with Flow() as f:
        f.output("text", f.add(joins, a=f.input("a", str)).out.text)
    result = await f.run(a="A")
    assert result["text"] == "A no b"
    assert result.metadata == {"joins": {"more": (), "ports": ["a", "b", "more"]}}


async def test_an_optional_port_that_holds_a_skip_has_its_default() -> None:
    with Flow() as f:
        exits = f.when(f.input("a", str), lambda _: False)
        f.output("text", f.add(joins, a=exits.yes, b=exits.no, config=Texts()).out.text)
    assert (await f.run(a="A"))["text"] == "no a A"


async def test_a_port_of_many_is_a_list() -> None:
    with Flow() as f:
        step = f.add(joins)
        for _ in range(2):
            f.add(number, 1)
        f.connect("number", "joins.more")
        f.connect("number_2", "joins.more")
        f.output("text", step.out.text)
    assert (await f.run()).metadata["joins"]["more"] == [1, 1]


async def test_the_context_goes_in_and_out_on_ports_of_its_own() -> None:
    with Flow() as f:
        f.output("context", f.add(joins, context=f.add(talk, "main").out).out.context)
    assert (await f.run())["context"] == ExecutionContext("main")


async def test_a_context_that_is_none_is_left_out() -> None:
    with Flow() as f:
        f.output("context", f.add(joins).out.context)
    result = await f.run()
    assert dict(result.outputs) == {}
    assert "port 'context' not emitted" in result.why("context")


async def test_a_status_of_error_fails_the_node_with_its_text_and_keeps_the_metadata() -> None:
    with Flow() as f:
        f.output("y", f.add(fails_if_odd, x=f.input("x", int)).out.y)
    with pytest.raises(RunFailed) as caught:
        await f.run(x=3)
    (failure,) = caught.value.failures
    assert (failure.path, failure.message) == (
        "fails_if_odd",
        "DF0809 fails_if_odd: the node failed: cannot halve 3",
    )
    assert caught.value.result.metadata["fails_if_odd"]["tried"] == [1]


async def test_a_status_of_error_is_tried_again() -> None:
    @node(retries=2, ports=lambda _: Ports(outputs={"attempt": int}))
    async def tries() -> NodeOutput:
        attempt = this_firing().attempt
        if attempt < 3:
            return NodeOutput(status="error", metadata={"error": "not yet"})
        return NodeOutput({"attempt": attempt}, metadata={"attempt": attempt})

    with Flow() as f:
        f.output("attempt", f.add(tries).out.attempt)
    result = await f.run()
    assert (result["attempt"], result.metadata["tries"]) == (3, {"attempt": 3})


async def test_the_failure_is_handled_as_any_other() -> None:
    with Flow() as f:
        step = f.add(fails_if_odd.with_(on_error="skip"), x=f.input("x", int))
        f.output("y", step.out.y)
    assert dict((await f.run(x=3)).outputs) == {}


async def test_metadata_is_told_of_each_firing_in_its_event_and_by_its_path() -> None:
    with Flow() as f:
        f.output("ys", collect(f.add(fails_if_odd, x=each(f.input("xs", list[int]))).out.y))
    async with f.start(xs=[4, 6]) as run:
        events = [event async for event in run.events()]
        result = await run
    told = {e.path: e.data["metadata"] for e in events if e.kind is EventKind.NODE_FINISHED and "[" in e.path}
    assert told == {"fails_if_odd[0]": {"halved": 4}, "fails_if_odd[1]": {"halved": 6}}
    assert result.metadata == told


async def test_metadata_is_a_copy_of_what_the_node_gave() -> None:
    kept: dict[str, list[int]] = {"seen": [1]}

    @node(ports=lambda _: Ports(outputs={"y": int}))
    async def keeps(inputs: Mapping[str, Any]) -> NodeOutput:
        return NodeOutput({"y": 1}, metadata=kept)

    with Flow() as f:
        f.add(keeps)
    result = await f.run()
    kept["seen"].append(2)
    assert result.metadata["keeps"] == {"seen": [1]}


async def test_a_raw_node_may_block_in_a_thread() -> None:
    @node(ports=lambda _: Ports({"x": int}, {"y": int}))
    @threaded
    def blocks(inputs: Mapping[str, Any], context: object) -> NodeOutput:
        return NodeOutput({"y": inputs["x"] + 1})

    with Flow() as f:
        f.output("y", f.add(blocks, x=f.input("x", int)).out.y)
    assert (await f.run(x=1))["y"] == 2


async def test_a_piece_of_a_port_that_the_node_does_not_have_is_an_error() -> None:
    async def speaks(x: int) -> int:
        this_firing().emit("a", port="text")
        return x

    with Flow() as f:
        f.add(speaks, f.input("x", int))
    with pytest.raises(RunFailed) as caught:
        await f.run(x=1)
    (failure,) = caught.value.failures
    assert failure.message.startswith("DF0806 speaks.text: ")
