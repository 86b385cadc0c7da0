"""Raw nodes in a run: what they are given, and what results from what they return (S1.3, S3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dataflow import (
    Config,
    EventKind,
    ExecutionContext,
    Flow,
    NodeOutput,
    Port,
    Ports,
    collect,
    each,
    node,
    this_firing,
)
from tests.behaviour.nodes import src
from tests.behaviour.table import failed_run, play


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
    given = {"more": inputs["more"], "ports": list(inputs)}
    return NodeOutput({"text": " ".join(names)}, context=context, metadata=given)


@node(ports=lambda _: Ports({"x": int}, {"y": int}))
async def fails_if_odd(inputs: Mapping[str, Any]) -> NodeOutput:
    if inputs["x"] % 2:
        return NodeOutput(status="error", metadata={"error": f"cannot halve {inputs['x']}", "tried": [1]})
    return NodeOutput({"y": inputs["x"] // 2}, metadata={"halved": inputs["x"]})


async def talk(text: str) -> ExecutionContext:
    return ExecutionContext(text)


async def test_inputs_are_mapped_by_name_with_defaults_and_lists() -> None:
    with Flow() as f:
        f.output("text", f.add(joins, a=f.input("a", str)).out.text)
    result = await f.run(a="A")
    assert result["text"] == "A no b"
    assert result.metadata == {"joins": {"more": (), "ports": ["a", "b", "more"]}}
    with Flow() as f:
        exits = f.when(f.input("a", str), lambda _: False)
        f.output("text", f.add(joins, a=exits.yes, b=exits.no, config=Texts()).out.text)
        for _ in range(2):
            f.add(src, 1)
        f.connect("src", "joins.more")
        f.connect("src_2", "joins.more")
    result = await f.run(a="A")
    assert (result["text"], result.metadata["joins"]["more"]) == ("no a A", [1, 1])


async def test_the_context_goes_in_and_out_on_separate_ports_and_none_is_left_out() -> None:
    with Flow() as f:
        f.output("context", f.add(joins, context=f.add(talk, "main").out).out.context)
        f.output("none", f.add(joins).out.context)
    result = await f.run()
    assert result.outputs == {"context": ExecutionContext("main")}
    assert "port 'context' not emitted" in result.why("none")


async def test_a_status_of_error_fails_the_node_like_any_failure_and_keeps_the_metadata() -> None:
    with Flow() as f:
        f.output("y", f.add(fails_if_odd, x=f.input("x", int)).out.y)
    failed = await failed_run(f, x=3)
    [failure] = failed.failures
    assert (failure.path, failure.code) == ("fails_if_odd", "DF0809")
    assert failure.message.endswith("cannot halve 3")
    assert failed.result.metadata["fails_if_odd"]["tried"] == [1]

    @node(retries=2, ports=lambda _: Ports(outputs={"attempt": int}))
    async def tries() -> NodeOutput:
        attempt = this_firing().attempt
        if attempt < 3:
            return NodeOutput(status="error", metadata={"error": "not yet"})
        return NodeOutput({"attempt": attempt}, metadata={"attempt": attempt})

    with Flow() as f:
        f.output("attempt", f.add(tries).out.attempt)
        f.output("y", f.add(fails_if_odd.with_(on_error="skip"), x=3).out.y)
    result = await f.run()
    assert (result.outputs, result.metadata["tries"]) == ({"attempt": 3}, {"attempt": 3})


async def test_metadata_of_each_firing_is_in_its_event_and_in_the_result() -> None:
    with Flow() as f:
        f.output("ys", collect(f.add(fails_if_odd, x=each(f.input("xs", list[int]))).out.y))
    played = await play(f, {"xs": [4, 6]})
    finished = [e for e in played.events if e.kind is EventKind.NODE_FINISHED and "[" in e.path]
    metadata = {event.path: event.data["metadata"] for event in finished}
    assert metadata == {"fails_if_odd[0]": {"halved": 4}, "fails_if_odd[1]": {"halved": 6}}
    assert played.result.metadata == metadata
    kept: dict[str, list[int]] = {"seen": [1]}

    @node(ports=lambda _: Ports(outputs={"y": int}))
    async def keeps(inputs: Mapping[str, Any]) -> NodeOutput:
        return NodeOutput({"y": 1}, metadata=kept)

    with Flow() as f:
        f.add(keeps)
    result = await f.run()
    kept["seen"].append(2)
    assert result.metadata["keeps"] == {"seen": [1]}  # it is a copy
