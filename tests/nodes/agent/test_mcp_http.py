"""Real tool servers over HTTP: what they give, how they end (S10.6)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import pytest

from dataflow import Secret
from dataflow_agent import ServerFailed, listed, mcp, sessions
from dataflow_agent.servers.results import Content
from tests.nodes.agent.serving import SERVER, call, hang_until_cancelled, until


@contextmanager
def serving_http(port: int = 0, **env: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Serve on a port of the loopback, or on a free one for 0, from when it says that it listens there."""
    command = [sys.executable, SERVER, str(port)]
    process = subprocess.Popen(command, env={**os.environ, **env}, stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as told:
        line = told.readline()
    if not line:
        raise AssertionError(f"the server has ended with {process.wait()}")
    yield int(line), process
    process.kill()
    process.wait()


async def test_a_server_is_called_by_its_address_and_one_that_dies_is_connected_again() -> None:
    with serving_http() as (port, process):
        box = mcp(url=f"http://127.0.0.1:{port}/mcp", name="far")
        async with sessions(box):
            assert await call(box, "echo", text="hi") == "hi"
            assert await call(box, "pid") == str(process.pid)
            assert str(await call(box, "fails")).startswith("error: tool 'fails' of server 'far': has failed")
            told: list[Content] = []
            has_ended = anyio.Event()
            async with anyio.create_task_group() as group:

                async def wait() -> None:
                    told.append(await call(box, "hang"))
                    has_ended.set()

                group.start_soon(wait)
                await until(box, "hanging")
                process.kill()
                with anyio.fail_after(20):
                    await has_ended.wait()
            assert "tool server 'far': has ended during 'hang'" in str(told[0])
            process.wait()
            with serving_http(port) as (_, other):
                assert await call(box, "pid") == str(other.pid)
                await hang_until_cancelled(box)


async def test_one_that_wants_a_header_is_sent_it() -> None:
    right, wrong = (Secret(f"{kind.upper()}_KEY", f"Bearer {kind}-key") for kind in ("right", "wrong"))
    with serving_http(WANTS=right.reveal()) as (port, _):
        url = f"http://127.0.0.1:{port}/mcp"
        async with sessions(box := mcp(url=url, headers={"Authorization": right})):
            assert await call(box, "echo", text="hi") == "hi"
        with pytest.raises(ServerFailed, match="DF2234 tool server 'far':"):
            await listed(mcp(url=url, headers={"Authorization": wrong}, name="far"))
