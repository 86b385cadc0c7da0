"""Sessions without a block, as notebooks open them (S13.4)."""

from __future__ import annotations

import gc
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from dataflow import DataflowError, Flow, FlowInvalid
from tests.support.codes import codes


def counted(seen: list[str]) -> Flow:
    async def waits(x: int) -> int:
        try:
            await (checkpoint() if x else anyio.sleep_forever())
        finally:
            seen.append(f"end {x}")
        return x

    with Flow("f") as flow:
        flow.output("y", flow.add(waits, x=flow.input("x", int, 1)).out)
    return flow


async def test_a_session_is_open_until_it_is_closed() -> None:
    seen: list[str] = []
    session = await counted(seen).open(x=2)
    assert await session.get("y") == 2
    await session.update(x=0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(refused, session)
        await anyio.wait_all_tasks_blocked()
        await session.aclose()
    assert seen == ["end 2", "end 0"]  # the clean-up has ended
    await session.aclose()
    await refused(session)
    with pytest.raises(FlowInvalid) as invalid:
        await counted(seen).open(z=1)
    assert codes(invalid.value) == ["DF0821 input 'z'"]


async def refused(session: Any) -> None:
    with pytest.raises(DataflowError) as over:
        await session.get("y")
    assert over.value.code == "DF0844"


async def test_a_session_of_a_block_may_be_closed_before() -> None:
    async with counted([]).live() as session:
        assert await session.get("y") == 1
        await session.aclose()
        await refused(session)


async def test_what_interrupts_a_session_is_raised_where_it_is_closed() -> None:
    async def interrupts() -> int:
        raise KeyboardInterrupt

    with Flow("f") as flow:
        flow.output("y", flow.add(interrupts).out)
    session = await flow.open()
    await refused(session)
    with pytest.raises(KeyboardInterrupt):
        await session.aclose()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_session_that_is_left_open_ends_with_the_event_loop(backend: str) -> None:
    seen: list[str] = []

    async def main() -> None:
        session = await counted(seen).open(x=0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.get, "y")
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        del session
        gc.collect()

    anyio.run(main, backend=backend)
    assert seen == ["end 0"]
