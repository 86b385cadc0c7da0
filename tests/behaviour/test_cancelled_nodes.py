"""Nodes that are being cancelled, and what they started (S9.6)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import trio
from anyio import Event, sleep_forever

from dataflow import Flow, node
from tests.behaviour.nodes import ident, inc, tallying
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


async def test_a_node_may_handle_the_failure_of_its_own_task_group() -> None:
    async def failing() -> None:
        raise ValueError("child")

    async def parent() -> str:
        try:
            await start_in_own_group(failing, sleep_forever)
        except* ValueError:
            pass
        return "handled"

    with Flow() as f:
        f.output("o", f.add(ident, x=f.add(parent).out).out)
    with tallying(checkpoints=1):
        assert (await f.run())["o"] == "handled"
