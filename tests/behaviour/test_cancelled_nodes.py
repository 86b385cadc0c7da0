"""Nodes that are being cancelled, and what they started (S9.6)."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import anyio
import pytest
import trio
from anyio import Event, sleep_forever
from anyio.lowlevel import checkpoint

from dataflow import EventKind, Flow, Run, node, threaded
from tests.behaviour.nodes import forever, inc, src, tallying
from tests.behaviour.table import cancelled, states_of

pytestmark = pytest.mark.usefixtures("nothing_is_left")


async def states_when_cancelled(function: Any, begun: Event) -> dict[str, str]:
    """Cancel a run of one node when the event is set, and return the states."""
    with Flow() as f:
        f.add(node(function))
    return states_of(await cancelled(f, begun))


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
        assert states_of(await cancelled(f, begun)) == {"stubborn": "cancelled", "inc": "not_run"}
    assert tally.runs() == {}


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
            assert states_of(await run) == {"block": "cancelled", "inc": "not_run"}
    release.set()
    await anyio.to_thread.run_sync(left.wait)
    await checkpoint()
    assert ((await run).status, tally.runs()) == ("cancelled", {})


async def test_a_run_inside_a_node_is_cancelled_with_it() -> None:
    begun, runs = Event(), list[Run]()
    with Flow() as inner:
        inner.output("o", inner.add(inc, x=inner.add(forever, x=inner.add(src, x=1).out).out).out)

    async def nested() -> Any:
        async with inner.start() as run:
            runs.append(run)
            begun.set()
            return await run

    assert await states_when_cancelled(nested, begun) == {"nested": "cancelled"}
    assert states_of(await runs[0]) == {"src": "done", "forever": "cancelled", "inc": "not_run"}


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
    """Also if a child raises on being cancelled, which is no failure."""

    async def noisy() -> None:
        try:
            await sleep_forever()
        finally:
            raise ValueError("noise")

    for child in (sleep_forever, noisy):
        begun = Event()

        async def parent(begun: Any = begun, child: Any = child) -> int:
            begun.set()
            await start_in_own_group(child, sleep_forever)
            return 1

        assert await states_when_cancelled(parent, begun) == {"parent": "cancelled"}
