"""Tool servers that do what they should not: what is told of it, and that the others go on (S10.6)."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from dataflow import ToolCall
from dataflow_agent import Toolbox, listed, mcp, sessions
from dataflow_agent.server_results import Content
from dataflow_agent.tool_calls import result_of
from tests.processes import end_of

SERVER: Final = str(Path(__file__).with_name("odd_server.py"))
ON_ASYNCIO: Final = pytest.mark.parametrize("anyio_backend", ["asyncio"])

pytestmark = pytest.mark.timeout(60)


def odd(*options: str, **settings: Any) -> Toolbox:
    described: dict[str, Any] = {"name": "odd", **settings}
    return mcp(sys.executable, SERVER, *options, **described)


async def call(box: Toolbox, name: str, /, **arguments: Any) -> Content:
    return await result_of(ToolCall("c", name, json.dumps(arguments)), await listed(box), None)


class TestEnds:
    @ON_ASYNCIO
    @pytest.mark.parametrize("times", [1, 2, 5])
    async def test_a_task_that_is_cancelled_more_than_once_leaves_no_process(self, times: int) -> None:
        box, pids, is_called = odd("--stays"), [], anyio.Event()

        async def use() -> None:
            async with sessions(box):
                pids.append(int(str(await call(box, "pid"))))
                is_called.set()
                await call(box, "is_silent")

        task = asyncio.create_task(use())
        with anyio.fail_after(20):
            await is_called.wait()
        for _ in range(times):
            task.cancel()
            await anyio.sleep(0.02)
        done, _ = await asyncio.wait([task], timeout=10)
        assert done == {task}
        assert task.cancelled()
        await end_of(pids[0])
