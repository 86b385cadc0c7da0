"""Several ports of one revision, and who waits for the next one (S13.4)."""

from __future__ import annotations

import anyio
import pytest

from dataflow import DataflowError, Flow
from tests.sessions.steps import Gate, turns


async def same(x: int) -> int:
    return x


async def test_several_ports_are_those_of_one_revision() -> None:
    gate = Gate(closed=lambda x: x == 1)

    async def slow(x: int) -> int:
        await gate.passed(x)
        return x

    with Flow("f") as flow:
        x = flow.input("x", int)
        flow.output("fast", flow.add(same, x).out)
        flow.output("slow", flow.add(slow, x).out)
    got: list[tuple[int, ...]] = []

    async with flow.live(x=1) as session, anyio.create_task_group() as group:

        async def get() -> None:
            got.append(await session.get("fast", "slow", "fast"))

        group.start_soon(get)
        await gate.reached()
        assert await session.get("fast") == 1  # it has settled, and slow has not
        await session.update(x=2)
    assert got == [(2, 2, 2)]


async def test_each_change_begins_a_revision_that_somebody_waits_for() -> None:
    async def doubled(x: int) -> int:
        return 2 * x

    with Flow("f") as flow:
        flow.output("y", flow.add(same, flow.input("x", int)).out)
    begun: list[int] = []

    async with flow.live(x=1) as session, anyio.create_task_group() as group:

        async def follow() -> None:
            while True:
                begun.append(await session.revised())

        group.start_soon(follow)
        await turns()
        await session.update(x=1)  # which is no change
        await turns()
        assert begun == []
        await session.update(x=2)
        await turns()
        await session.replace("same", doubled)
        await turns()
        assert begun == [2, 3]
        group.cancel_scope.cancel()


async def test_whoever_waits_for_a_revision_is_told_of_the_end() -> None:
    with Flow("f") as flow:
        flow.output("y", flow.add(same, flow.input("x", int)).out)
    text = "the live session of flow 'f' is over: its block has been left"
    told: list[str] = []

    async with anyio.create_task_group() as group, flow.live(x=1) as session:

        async def wait() -> None:
            try:
                await session.revised()
            except DataflowError as error:
                told.append(str(error))

        group.start_soon(wait)
        await turns()
    assert told == [text]
    with pytest.raises(DataflowError) as raised:
        await session.revised()
    assert str(raised.value) == text
