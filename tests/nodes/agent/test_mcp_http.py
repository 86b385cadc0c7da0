"""Real tool servers over HTTP: what they give, how they end (S10.6)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest

from dataflow import Secret
from dataflow_agent import (
    ServerFailed,
    listed,
    mcp,
    sessions,
)
from dataflow_agent.servers.results import Content
from tests.nodes.agent.serving import (
    SERVER,
    call,
    hang_until_cancelled,
    until,
)


@pytest.fixture
def address() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Serve over HTTP on the loopback."""
    with serving_http() as found:
        yield found


@contextmanager
def serving_http(**env: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    port, process = start_http(0, **env)
    yield f"http://127.0.0.1:{port}/mcp", process
    process.kill()
    process.wait()


def start_http(port: int, **env: str) -> tuple[int, subprocess.Popen[bytes]]:
    """Start it on a port, or on a free one for 0, and wait until it says that it listens there."""
    command = [sys.executable, SERVER, str(port)]
    process = subprocess.Popen(command, env={**os.environ, **env}, stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as told:
        line = told.readline()
    if not line:
        raise AssertionError(f"the server has ended with {process.wait()}")
    return int(line), process


class TestHttp:
    async def test_a_server_is_called_by_its_address(self, address: tuple[str, Any]) -> None:
        url, process = address
        box = mcp(url=url, name="far")
        async with sessions(box):
            assert await call(box, "echo", text="hi") == "hi"
            assert await call(box, "pid") == str(process.pid)
            assert str(await call(box, "fails")).startswith("error: tool 'fails' of server 'far': has failed")

    async def test_one_that_dies_fails_the_call_and_the_next_connects_again(
        self, address: tuple[str, Any]
    ) -> None:
        url, process = address
        port = int(url.split(":")[2].split("/")[0])
        box = mcp(url=url, name="far")
        async with sessions(box):
            await call(box, "pid")
            told: list[Content] = []
            has_ended = anyio.Event()
            async with anyio.create_task_group() as group:

                async def wait() -> None:
                    told.append(await call(box, "hang"))
                    has_ended.set()

                group.start_soon(wait)
                await until(box, "hanging")
                process.send_signal(signal.SIGKILL)
                with anyio.fail_after(20):
                    await has_ended.wait()
            assert "tool server 'far': has ended during 'hang'" in str(told[0])
            process.wait()
            _, other = await anyio.to_thread.run_sync(start_http, port)
            try:
                assert await call(box, "pid") == str(other.pid)
            finally:
                other.kill()
                other.wait()

    async def test_a_node_that_is_cancelled_cancels_its_call(self, address: tuple[str, Any]) -> None:
        box = mcp(url=address[0], name="far")
        async with sessions(box):
            await hang_until_cancelled(box)

    async def test_one_that_wants_a_header_is_sent_it(self) -> None:
        right, wrong = (Secret(f"{kind.upper()}_KEY", f"Bearer {kind}-key") for kind in ("right", "wrong"))
        with serving_http(WANTS=right.reveal()) as (url, _):
            async with sessions(box := mcp(url=url, headers={"Authorization": right})):
                assert await call(box, "echo", text="hi") == "hi"
            with pytest.raises(ServerFailed, match="DF2234 tool server 'far':"):
                await listed(mcp(url=url, headers={"Authorization": wrong}, name="far"))

    async def test_one_that_is_not_there_fails_after_three_tries(self) -> None:
        box = mcp(url="http://127.0.0.1:9/mcp", name="far")
        with pytest.raises(ServerFailed, match="DF2232 tool server 'far':"):
            await listed(box)
