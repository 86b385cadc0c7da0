"""Several ports of one revision, and waiting for the next (S13.4)."""

from __future__ import annotations

import anyio
import pytest

from dataflow import DataflowError, Flow, Live, RunFailed
from tests.live.steps import turns


async def slow_double(x: int) -> int:
    await anyio.sleep(0.01)
    return 2 * x


async def negative(x: int) -> int:
    if x == 3:
        raise ValueError("no three")
    return -x


def two() -> Flow:
    with Flow("two") as flow:
        x = flow.input("x", int)
        flow.output("double", flow.add(slow_double, x).out)
        flow.output("negative", flow.add(negative, x).out)
    return flow


async def test_an_update_to_an_equal_value_begins_no_revision_and_other_code_does() -> None:
    begun: list[int] = []

    async def follow(session: Live) -> None:
        while True:
            begun.append(await session.revised())

    async with two().live(x=1) as session, anyio.create_task_group() as tasks:
        tasks.start_soon(follow, session)
        await turns()
        await session.update(x=1)
        await turns()
        assert begun == []
        await session.replace("negative", slow_double)
        await turns()
        assert begun == [2]
        tasks.cancel_scope.cancel()


async def test_waiting_for_a_revision_of_a_session_that_ends_is_an_error() -> None:
    async with anyio.create_task_group() as tasks:

        async def wait(session: Live) -> None:
            with pytest.raises(DataflowError, match="DF0844"):
                await session.revised()

        async with two().live(x=1) as session:
            tasks.start_soon(wait, session)
            await anyio.wait_all_tasks_blocked()


async def test_who_watches_what_has_failed_waits_for_the_next_revision() -> None:
    seen: list[object] = []

    async def follow(session: Live) -> None:
        while True:
            try:
                async for value in session.watch("negative"):
                    seen.append(value)  # noqa: PERF401 - what comes before the failure counts
            except RunFailed:
                seen.append("failed")
                seen.append(await session.revised())

    async with two().live(x=1) as session, anyio.create_task_group() as tasks:
        tasks.start_soon(follow, session)
        for x in (3, 5):
            await anyio.wait_all_tasks_blocked()
            await session.update(x=x)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert seen == [-1, "failed", 3, -5]
