"""Tool servers that do what they should not: what is told of it, and that the others go on (S10.6)."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from dataflow import Secret, ToolCall
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


class TestCalls:
    async def test_an_error_is_of_its_call_whatever_its_code_is(self) -> None:
        box = odd()
        async with sessions(box):
            before = await call(box, "pid")
            told = "error: tool 'is_full' of server 'odd' has failed: the disk is full"
            assert await call(box, "is_full") == told
            assert await call(box, "pid") == before

    @pytest.mark.parametrize(
        ("written", "told"),
        [
            (r'{"text": "\ud800"}', "surrogates not allowed"),
            (f'{{"text": {"[" * 300}{"]" * 300}}}', "depth exceeded"),
        ],
    )
    async def test_arguments_that_cannot_be_written_fail_their_call_only(
        self, written: str, told: str
    ) -> None:
        box = odd()
        async with sessions(box):
            before, known = await call(box, "pid"), await listed(box)
            found = str(await result_of(ToolCall("c", "echo", written), known, None))
            assert found.startswith("error: tool 'echo' of server 'odd' cannot be sent its arguments: ")
            assert told in found
            assert await call(box, "pid") == before


class TestSecrets:
    @pytest.mark.parametrize("secret", ["a-very-secret-key", "Qfirst-of-lines\nZsecond-of-lines"])
    @pytest.mark.parametrize("ahead", [0, 290])
    async def test_no_piece_of_a_secret_is_shown(
        self, secret: str, ahead: int, caplog: pytest.LogCaptureFixture
    ) -> None:
        box = odd(env={"KEY": Secret("THE_KEY", secret)})
        async with sessions(box):
            with caplog.at_level(logging.DEBUG, "dataflow_agent.servers"):
                assert await call(box, "prints", ahead=ahead) == "done"
                told = str(await call(box, "dies", ahead=ahead))
        shown = [record.getMessage() for record in caplog.records if record.name == "dataflow_agent.servers"]
        assert len(shown) > 1
        for text in (told, *shown):
            pieces = [line[:4] for line in secret.splitlines() if line[:4] in text]
            assert not pieces
        assert "[secret:" in told
