# ruff: noqa: ASYNC220, ASYNC240, T201 - it is alone in its process
"""A tool server for the tests: over standard input and output, or over HTTP on the loopback.

python mcp_server.py [--exit] [--many] [PORT]

With a port it says in a line on which it listens, which is a free one for 0.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError

#: One pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)

served = MCPServer("served", log_level="ERROR")
#: What calls have come to: `hanging`, `cancelled`.
SEEN: defaultdict[str, anyio.Event] = defaultdict(anyio.Event)


@served.tool()
async def echo(text: str) -> str:
    """Say the same again."""
    return text


@served.tool()
async def pid() -> int:
    return os.getpid()


@served.tool()
async def die() -> str:
    """End the process without an answer."""
    sys.stderr.write("nothing\nto live for")
    sys.stderr.flush()
    calls = os.environ.get("CALLS")
    if calls:
        Path(calls).write_text(f"{Path(calls).read_text()}die\n")
    os._exit(3)


@served.tool()
async def kill() -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


@served.tool()
async def hang() -> str:
    """Wait for ever."""
    SEEN["hanging"].set()
    try:
        await anyio.sleep_forever()
    except BaseException:
        SEEN["cancelled"].set()
        raise
    return ""


@served.tool()
async def seen(event: str) -> str:
    """Wait until another call has come as far as an event tells."""
    await SEEN[event].wait()
    return "yes"


@served.tool()
async def fails() -> str:
    raise ToolError("no shelf for bears")


@served.tool(structured_output=False)
async def picture() -> list[Any]:
    return ["one pixel", Image(data=PNG, format="png")]


@served.tool()
async def child() -> int:
    """Start a process that would outlive this one."""
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid


@served.tool()
async def variable(name: str) -> str:
    return os.environ.get(name, "(not set)")


@served.tool()
async def free(free: dict[str, Any]) -> dict[str, Any]:
    return free


@served.tool()
async def grow(context: Context) -> str:
    """Have one tool more, and tell of it."""
    served.add_tool(seen, name="grown")
    await context.notify_tools_changed()
    return "grown"


def more_tools() -> None:
    """Have tools whose names are hard to tell apart."""
    long = [f"{'x' * 34}{letter}{'x' * 35}" for letter in "ab"]
    for name in ("search-a", "search_a", *long, "find file", "find_file", "find(file"):

        async def search(name: str = name) -> str:
            return name

        served.add_tool(search, name=name)


def serve_http(port: int) -> None:
    import uvicorn

    app: Any = served.streamable_http_app()
    listening = socket.create_server(("127.0.0.1", port))
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listening])


if __name__ == "__main__":
    if "--exit" in sys.argv:
        sys.stderr.write("no library found\n")
        sys.exit(4)
    if "--hang" in sys.argv:
        signal.pause()
    if "--many" in sys.argv:
        more_tools()
    if sys.argv[-1].isdigit():
        serve_http(int(sys.argv[-1]))
    else:
        served.run("stdio")
