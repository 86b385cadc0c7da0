"""Nodes that are being cancelled, and what they started (S9.6)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
import trio
from anyio import CancelScope, Event, create_task_group, get_running_tasks, sleep_forever
from anyio.lowlevel import checkpoint

from dataflow import EventKind, Flow, Run, node, threaded
from tests.behaviour.nodes import inc, src, tallying
from tests.behaviour.table import states_of


@pytest.fixture(autouse=True)
async def nothing_is_left() -> AsyncIterator[None]:
    """Let no task outlive the test."""
    before = len(get_running_tasks())
    yield
    assert len(get_running_tasks()) == before


async def test_a_node_that_swallows_its_cancellation_is_cancelled_all_the_same() -> None:
    begun = Event()

    async def stubborn() -> int:
        begun.set()
        try:
            await sleep_forever()
        except BaseException:  # noqa: BLE001 - the mistake under test
            return 5
        return 1

    with Flow() as f:
        f.output("o", f.add(inc, x=f.add(stubborn).out).out)
    with tallying() as tally:
        async with f.start() as run:
            await begun.wait()
            run.cancel("enough")
            result = await run
    assert states_of(result) == {"stubborn": "cancelled", "inc": "not_run"}
    assert tally.runs() == {}


async def test_a_node_cleans_up_before_the_run_ends() -> None:
    begun, cleaned = Event(), []

    async def careful() -> int:
        begun.set()
        try:
            await sleep_forever()
        finally:
            with CancelScope(shield=True):
                await checkpoint()
                cleaned.append("up")
        return 1

    with Flow() as f:
        f.add(careful)
    async with f.start() as run:
        await begun.wait()
        run.cancel()
        assert (await run).status == "cancelled"
        assert cleaned == ["up"]


async def test_tasks_that_a_node_started_end_with_it() -> None:
    begun, ended = Event(), []

    async def child(name: str) -> None:
        try:
            await sleep_forever()
        finally:
            ended.append(name)

    async def parent() -> int:
        async with create_task_group() as group:
            for name in ("a", "b"):
                group.start_soon(child, name)
            begun.set()
        return 1

    with Flow() as f:
        f.add(parent)
    async with f.start() as run:
        await begun.wait()
        await anyio.wait_all_tasks_blocked()
        run.cancel()
        result = await run
    assert sorted(ended) == ["a", "b"]
    assert states_of(result) == {"parent": "cancelled"}


async def test_the_result_of_a_thread_that_comes_too_late_is_dropped() -> None:
    begun, release, left = threading.Event(), threading.Event(), threading.Event()

    def block(x: int) -> int:
        begun.set()
        release.wait()
        left.set()
        return x

    with Flow() as f:
        f.output("o", f.add(inc, x=f.add(threaded(block), x=1).out).out)
    with tallying() as tally:
        async with f.start() as run:
            async for event in run.events():
                if event.kind is EventKind.NODE_STARTED:
                    await anyio.to_thread.run_sync(begun.wait)
                    run.cancel("too long")
            result = await run
    assert states_of(result) == {"block": "cancelled", "inc": "not_run"}
    release.set()
    await anyio.to_thread.run_sync(left.wait)
    await checkpoint()
    assert (await run).status == "cancelled"
    assert tally.runs() == {}


async def test_a_run_inside_a_node_is_cancelled_with_it() -> None:
    begun = Event()
    with Flow() as inner:
        inner.output("o", inner.add(inc, x=inner.add(sleeps, x=inner.add(src, x=1).out).out).out)

    async def nested() -> Any:
        async with inner.start() as run:
            runs.append(run)
            begun.set()
            return await run

    runs: list[Run] = []
    with Flow() as f:
        f.add(node(nested))
    with tallying():
        async with f.start() as run:
            await begun.wait()
            await anyio.wait_all_tasks_blocked()
            run.cancel()
            result = await run
    assert states_of(result) == {"nested": "cancelled"}
    assert states_of(await runs[0]) == {"src": "done", "sleeps": "cancelled", "inc": "not_run"}


async def sleeps(x: int) -> int:
    await sleep_forever()
    return x


async def fails() -> None:
    raise ValueError("child")


async def start_in_own_group(*functions: Any) -> None:
    """Run functions in a task group of the event loop's own kind."""
    if trio.lowlevel.in_trio_task():
        async with trio.open_nursery() as nursery:
            for function in functions:
                nursery.start_soon(function)
    else:
        async with asyncio.TaskGroup() as group:
            for function in functions:
                group.create_task(function())


async def test_a_task_group_of_the_loops_own_kind_is_cancelled_with_its_node() -> None:
    begun = Event()

    async def parent() -> int:
        begun.set()
        await start_in_own_group(sleep_forever, sleep_forever)
        return 1

    with Flow() as f:
        f.add(parent)
    async with f.start() as run:
        await begun.wait()
        await anyio.wait_all_tasks_blocked()
        run.cancel()
        assert states_of(await run) == {"parent": "cancelled"}


async def test_a_node_may_handle_the_failure_of_its_own_task_group() -> None:
    async def parent() -> str:
        try:
            await start_in_own_group(fails, sleep_forever)
        except* ValueError:
            pass
        return "handled"

    async def after(x: str) -> str:
        await checkpoint()
        return x

    with Flow() as f:
        f.output("o", f.add(after, x=f.add(parent).out).out)
    assert (await f.run())["o"] == "handled"


async def test_a_child_that_raises_on_being_cancelled_is_no_failure() -> None:
    begun = Event()

    async def noisy() -> None:
        try:
            await sleep_forever()
        finally:
            raise ValueError("noise")

    async def parent() -> int:
        begun.set()
        await start_in_own_group(noisy, sleep_forever)
        return 1

    with Flow() as f:
        f.add(parent)
    async with f.start() as run:
        await begun.wait()
        await anyio.wait_all_tasks_blocked()
        run.cancel()
        assert states_of(await run) == {"parent": "cancelled"}
