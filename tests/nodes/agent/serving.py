"""The tool servers of the tests, and what is told of their calls and processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from dataflow import ToolCall
from dataflow_agent import Toolbox, mcp
from dataflow_agent.servers.results import Content
from tests.nodes.agent.agent_tools import told_of

SERVER, ODD_SERVER, RAW_SERVER = (
    str(Path(__file__).with_name(f"{name}_server.py")) for name in ("mcp", "odd", "raw")
)
RAW: Final = mcp(sys.executable, RAW_SERVER, name="raw")
KEY: Final = "a-very-secret-key"

#: What is the same on both, once servers are called.
ON_ASYNCIO: Final = pytest.mark.parametrize("anyio_backend", ["asyncio"])


def serve(*options: str, **settings: Any) -> Toolbox:
    described: dict[str, Any] = {"name": "served", **settings}
    return mcp(sys.executable, SERVER, *options, **described)


def odd(*options: str, **settings: Any) -> Toolbox:
    described: dict[str, Any] = {"name": "odd", **settings}
    return mcp(sys.executable, ODD_SERVER, *options, **described)


def is_there(pid: int) -> bool:
    """Tell whether a process lives; a zombie, which nobody has waited for, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def end_of(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        with anyio.fail_after(60):
            await anyio.wait_readable(descriptor)
    finally:
        os.close(descriptor)


def children() -> set[int]:
    found = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,comm="], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 2) for line in found.splitlines()]
    below: set[int] = set()
    newly = {os.getpid()}
    while newly:
        newly = {int(pid) for pid, parent, name in rows if int(parent) in newly and name != "ps"} - below
        below |= newly
    return {pid for pid in below if is_there(pid)}


async def call(box: Toolbox, name: str, /, **arguments: Any) -> Content:
    return await told_of(ToolCall("c", name, json.dumps(arguments)), box)


async def until(box: Toolbox, event: str) -> None:
    """Wait until the server says that another of its calls has come as far as an event tells."""
    with anyio.fail_after(60):
        assert await call(box, "seen", event=event) == "yes"


async def hang_until_cancelled(box: Toolbox) -> None:
    """Cancel a call that hangs, and wait until the server knows."""
    async with anyio.create_task_group() as group:
        group.start_soon(call, box, "hang")
        await until(box, "hanging")
        group.cancel_scope.cancel()
    await until(box, "cancelled")
