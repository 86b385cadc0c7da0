"""Sessions that are opened in one task and left in another, in any order (S10.6, B39)."""

from __future__ import annotations

from typing import Any, Final

import anyio

from dataflow import Flow, collect, each
from dataflow_agent import Toolbox, sessions
from tests.nodes.agent.serving import ON_ASYNCIO, call, children, serve

BOXES: Final = [serve(name=f"s{number}", env={"N": "HOME"} if number == 1 else {}) for number in range(2)]
THREE: Final = [*BOXES, serve("--many", name="s2")]


async def pid_of(box: Toolbox) -> int:
    return int(str(await call(box, "pid")))


async def pid(number: int) -> int:
    """Ask a server for its process, in the session of the block or of the run."""
    return await pid_of(THREE[number])


@ON_ASYNCIO
async def test_three_that_were_opened_in_three_tasks_are_closed_from_others_in_another_order() -> None:
    """Trio lets no task end inside a block that it has entered."""
    before, blocks = children(), [sessions(box) for box in THREE]
    found: dict[int, int] = {}

    async def open_it(number: int) -> None:
        await blocks[number].__aenter__()
        found[number] = await pid(number)

    async with anyio.create_task_group() as group:
        for number in range(3):
            group.start_soon(open_it, number)
    assert {*found.values()} <= children() - before
    assert len({*found.values()}) == 3
    for number in (0, 2, 1):
        async with anyio.create_task_group() as group:
            group.start_soon(blocks[number].__aexit__, None, None, None)
        assert found.pop(number) not in children()
        assert {*found.values()} <= children()
    assert children() == before


async def test_blocks_of_three_tasks_are_left_in_any_order_while_the_others_answer() -> None:
    before = children()
    leave = [anyio.Event() for _ in THREE]
    opened, left = [anyio.Event() for _ in THREE], [anyio.Event() for _ in THREE]

    async def hold(number: int) -> None:
        async with sessions(THREE[number]):
            first = await pid(number)
            opened[number].set()
            await leave[number].wait()
            assert await pid(number) == first
        left[number].set()

    async with anyio.create_task_group() as group:
        for number in range(3):
            group.start_soon(hold, number)
        for event in opened:
            await event.wait()
        for number in (0, 2, 1):
            leave[number].set()
            await left[number].wait()
    assert children() == before


async def test_three_nodes_that_open_sessions_at_once_leave_none_when_the_run_ends() -> None:
    before = children()
    with Flow("three") as flow:
        flow.output("pids", collect(flow.add(pid, number=each([0, 1, 2, 2, 0, 1])).out))
    pids: Any = (await flow.run())["pids"]
    assert pids[:3] == [pids[4], pids[5], pids[3]]
    assert len({*pids}) == 3
    assert children() == before
