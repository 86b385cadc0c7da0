"""Nodes that behave oddly: interrupts, stolen cancellation, generators, threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import trio
from anyio import Event, create_task_group, fail_after, get_running_tasks, move_on_after, sleep_forever
from anyio.lowlevel import checkpoint

from dataflow import EventKind, Flow, Run, RunFailed, collect, each, node
from tests.behaviour.nodes import inc, one, tallying
from tests.behaviour.table import states_of


class Interruption(BaseException):
    """No Exception: nothing but its raiser knows it."""


INTERRUPTIONS = [KeyboardInterrupt, SystemExit, Interruption]


@pytest.fixture(autouse=True)
async def nothing_is_left() -> AsyncIterator[None]:
    before = len(get_running_tasks())
    yield
    assert len(get_running_tasks()) == before


def on_trio() -> bool:
    return trio.lowlevel.in_trio_task()


@pytest.mark.parametrize("kind", INTERRUPTIONS)
@pytest.mark.parametrize("suspends", [False, True], ids=["straight", "suspending"])
async def test_an_interruption_comes_out_bare_and_ends_the_run(
    kind: type[BaseException], suspends: bool
) -> None:
    begun, runs, streams = Event(), list[Run](), list[Any]()

    async def interrupt() -> int:
        await begun.wait()
        if suspends:
            await checkpoint()
        raise kind("stop")

    async def hang() -> int:
        begun.set()
        await sleep_forever()
        return 1

    with Flow() as f:
        f.add(hang)
        f.output("o", f.add(inc, x=f.add(interrupt).out).out)

    async def owner() -> None:
        async with f.start() as run:
            runs.append(run)
            streams.append(run.events())
            await run

    with tallying() as tally, pytest.raises(kind, match="stop"):
        await owner()
    assert runs[0].status == "failed"
    events = [event async for event in streams[0]]
    ended = {event.path: event.data["state"] for event in events if event.kind is EventKind.NODE_FINISHED}
    assert ended == {"hang": "cancelled", "interrupt": "failed", "inc": "not_run"}
    assert events[-1].kind is EventKind.RUN_FINISHED
    assert tally.runs() == {}


def interrupted_test(f: Flow, interrupt: Callable[[object], Any]) -> None:
    with f.loop() as it:
        v = it.carry(0)
        it.until(f.add(inc, x=v.out).out, interrupt)
        v.next(v.out)


def interrupted_key(f: Flow, interrupt: Callable[[object], Any]) -> None:
    f.add(inc, x=each([1, 2], key=interrupt))


def interrupted_predicate(f: Flow, interrupt: Callable[[object], Any]) -> None:
    f.when(f.add(one).out, interrupt)


@pytest.mark.parametrize("wire", [interrupted_test, interrupted_key, interrupted_predicate])
@pytest.mark.parametrize("kind", INTERRUPTIONS)
async def test_an_interruption_in_a_function_of_the_flow_comes_out_bare(
    wire: Callable[[Flow, Callable[[object], Any]], None], kind: type[BaseException]
) -> None:
    def interrupt(value: object) -> Any:
        raise kind("stop")

    f = Flow()
    wire(f, interrupt)
    with tallying(), pytest.raises(kind, match="stop"):
        await f.run()


async def test_a_node_that_raises_a_cancellation_of_its_own_fails() -> None:
    """Nobody can make trio's; asyncio's is an exception like any other there (S9.6)."""

    async def cancelled() -> int:
        raise asyncio.CancelledError("mine")

    with Flow() as f:
        f.output("o", f.add(inc, x=f.add(cancelled).out).out)
        f.add(one)
    with tallying(), pytest.raises(RunFailed) as raised:
        await f.using(errors="continue").run()
    kind = "CancelledError" if on_trio() else "NodeFailed"
    assert [(failed.path, failed.type) for failed in raised.value.failures] == [("cancelled", kind)]
    assert states_of(raised.value.result) == {"cancelled": "failed", "inc": "not_run", "one": "done"}


@pytest.mark.parametrize(
    ("wire", "path"), [(interrupted_test, "loop"), (interrupted_key, "inc"), (interrupted_predicate, "when")]
)
async def test_a_cancellation_raised_by_a_function_of_the_flow_is_a_failure(
    wire: Callable[[Flow, Callable[[object], Any]], None], path: str
) -> None:
    def cancelled(value: object) -> Any:
        raise asyncio.CancelledError("mine")

    f = Flow()
    wire(f, cancelled)
    with tallying(), pytest.raises(RunFailed) as raised:
        await f.run()
    is_node = path == "when" and not on_trio()
    kind = "NodeFailed" if is_node else "CancelledError"
    assert [(failed.path, failed.type) for failed in raised.value.failures] == [(path, kind)]


async def test_a_node_that_cancels_its_own_task_is_the_one_that_fails() -> None:
    async def cancels() -> int:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return 1

    async def waits(x: int) -> int:
        await checkpoint()
        return x

    with Flow() as f:
        f.output("o", f.add(waits, x=f.add(one if on_trio() else cancels).out).out)
    with tallying():
        if on_trio():  # there a task cannot cancel itself
            assert (await f.run())["o"] == 1
            return
        with pytest.raises(RunFailed) as raised:
            await f.run()
    assert [failure.path for failure in raised.value.failures] == ["cancels"]


async def test_a_timeout_inside_a_node_is_the_nodes_own() -> None:
    async def patient() -> str:
        with move_on_after(0):
            await sleep_forever()
        try:
            with fail_after(0):
                await sleep_forever()
        except TimeoutError:
            return "timed out"
        return "never"

    with Flow() as f:
        f.output("o", collect(f.add(patient_item, x=each([1, 2, 3])).out))
        f.output("p", f.add(patient).out)
    assert (await f.run()).outputs == {"o": [1, 2, 3], "p": "timed out"}


async def patient_item(x: int) -> int:
    with move_on_after(0):
        await sleep_forever()
    return x


async def test_a_task_group_of_a_node_that_fails_is_one_failure() -> None:
    async def fail() -> None:
        raise ValueError("child")

    async def parent() -> int:
        async with create_task_group() as group:
            group.start_soon(fail)
            group.start_soon(sleep_forever)
        return 1

    with Flow() as f:
        f.add(parent)
    with pytest.raises(RunFailed) as raised:
        await f.run()
    assert [(failure.path, failure.type) for failure in raised.value.failures] == [
        ("parent", "ExceptionGroup")
    ]


@node
async def numbers(n: int) -> AsyncIterator[int]:
    for number in range(n):
        await checkpoint()
        yield number


async def test_the_pieces_of_an_async_generator_are_a_list() -> None:
    with Flow() as f:
        n = f.input("n", int)
        pieces = f.add(numbers, n=n)
        f.output("o", pieces.out)
        f.output("more", collect(f.add(inc, x=each(pieces.out)).out))
    with tallying():
        assert (await f.run(n=3)).outputs == {"o": [0, 1, 2], "more": [1, 2, 3]}
        assert (await f.run(n=0)).outputs == {"o": [], "more": []}
    assert await numbers(2) == [0, 1]


async def test_an_async_generator_that_fails_gives_nothing() -> None:
    closed = []

    @node
    async def breaks() -> AsyncIterator[int]:
        try:
            yield 1
            raise ValueError("broken off")
        finally:
            closed.append(True)

    with Flow() as f:
        f.output("o", f.add(breaks).out)
    with pytest.raises(RunFailed, match="broken off") as raised:
        await f.run()
    assert raised.value.result.outputs == {}
    assert closed == [True]


async def test_an_async_generator_that_is_cancelled_is_closed() -> None:
    begun, closed = Event(), []

    @node
    async def endless() -> AsyncIterator[int]:
        try:
            yield 1
            begun.set()
            await sleep_forever()
        finally:
            closed.append(True)

    with Flow() as f:
        f.output("o", f.add(endless).out)
    async with f.start() as run:
        await begun.wait()
        run.cancel()
        assert states_of(await run) == {"endless": "cancelled"}
        assert closed == [True]
