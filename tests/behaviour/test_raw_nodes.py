"""Raw nodes in a run, and nodes that behave oddly: interruptions, stolen cancellation (S1.3, S3.2, S9.6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Final

import pytest
import trio
from anyio import Event, sleep_forever
from anyio.lowlevel import checkpoint

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
)
from tests.behaviour.nodes import inc, one, src
from tests.behaviour.table import cancelled, failed_run, play, states_of


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


pytestmark = pytest.mark.usefixtures("nothing_is_left")


class Interruption(BaseException):
    """Not an Exception: only its raiser knows it."""


INTERRUPTIONS: Final = (KeyboardInterrupt, SystemExit, Interruption)


def on_trio() -> bool:
    return trio.lowlevel.in_trio_task()


Wire = Callable[[Flow, Callable[[object], Any]], object]


def until_test(f: Flow, function: Callable[[object], Any]) -> None:
    with f.loop() as it:
        v = it.carry(0)
        it.until(f.add(inc, x=v.out).out, function)
        v.next(v.out)


#: Functions of a flow, by the path of what calls them.
FUNCTIONS: Final[dict[str, Wire]] = {
    "loop": until_test,
    "inc": lambda f, function: f.add(inc, x=each([1, 2], key=function)),
    "when": lambda f, function: f.when(f.add(one).out, function),
}


def raising(error: BaseException) -> Callable[[object], Any]:
    def raises(value: object) -> Any:
        raise error

    return raises


async def test_what_a_function_of_the_flow_raises_is_raised_bare_or_a_failure() -> None:
    """An interruption is raised bare; a cancellation of asyncio's is a failure (S9.6)."""
    for path, wire in FUNCTIONS.items():
        for kind in INTERRUPTIONS:
            f = Flow()
            wire(f, raising(kind("stop")))
            with pytest.raises(kind, match="stop"):
                await f.run()
        f = Flow()
        wire(f, raising(asyncio.CancelledError("mine")))
        kind_of = "NodeFailed" if path == "when" and not on_trio() else "CancelledError"
        assert [(e.path, e.type) for e in (await failed_run(f)).failures] == [(path, kind_of)]


async def test_a_node_that_raises_a_cancellation_of_its_own_fails() -> None:
    """Nobody can make trio's; asyncio's is an exception like any other there (S9.6)."""

    async def cancels() -> int:
        raise asyncio.CancelledError("mine")

    with Flow() as f:
        f.output("o", f.add(inc, x=f.add(cancels).out).out)
        f.add(one)
    failed = await failed_run(f.using(errors="continue"))
    kind = "CancelledError" if on_trio() else "NodeFailed"
    assert [(one.path, one.type) for one in failed.failures] == [("cancels", kind)]
    assert states_of(failed.result) == {"cancels": "failed", "inc": "not_run", "one": "done"}


async def test_the_pieces_of_an_async_generator_are_a_list() -> None:
    @node
    async def numbers(n: int) -> AsyncIterator[int]:
        for number in range(n):
            await checkpoint()
            yield number

    with Flow() as f:
        pieces = f.add(numbers, n=f.input("n", int))
        f.output("o", pieces.out)
        f.output("more", collect(f.add(inc, x=each(pieces.out)).out))
    assert (await f.run(n=3)).outputs == {"o": [0, 1, 2], "more": [1, 2, 3]}
    assert (await f.run(n=0)).outputs == {"o": [], "more": []}
    assert await numbers(2) == [0, 1]


async def test_an_async_generator_that_fails_or_is_cancelled_is_closed_and_gives_nothing() -> None:
    begun, closed = Event(), list[bool]()

    @node
    async def breaks(is_endless: bool) -> AsyncIterator[int]:
        try:
            yield 1
            begun.set()
            if is_endless:
                await sleep_forever()
            raise ValueError("broken off")
        finally:
            closed.append(True)

    with Flow() as f:
        f.output("o", f.add(breaks, is_endless=f.input("is_endless", bool)).out)
    with pytest.raises(RunFailed, match="broken off") as raised:
        await f.run(is_endless=False)
    assert (raised.value.result.outputs, closed) == ({}, [True])
    result = await cancelled(f, begun, is_endless=True)
    assert (states_of(result), closed) == ({"breaks": "cancelled"}, [True, True])
