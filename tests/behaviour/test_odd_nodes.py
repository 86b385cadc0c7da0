"""Nodes that behave oddly: interruptions, stolen cancellation, generators, threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import pytest
import trio
from anyio import Event, sleep_forever
from anyio.lowlevel import checkpoint

from dataflow import Flow, RunFailed, collect, each, node
from tests.behaviour.nodes import inc, one
from tests.behaviour.table import cancelled, failed_run, states_of

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
