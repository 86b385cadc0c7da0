# mypy: disable-error-code="arg-type, dict-item"
"""Problems of tool servers: their descriptions, their start, their calls and their end."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import patch

import anyio

from dataflow import Secret
from dataflow_agent import call_server_tool, listed, mcp
from dataflow_agent.servers import connection
from dataflow_agent.servers.server import Server, ServerTool
from dataflow_agent.servers.sessions import unmet_of
from dataflow_agent.toolkit.policies import Policy
from tests.messages.telling import Row, Stimulus
from tests.nodes.agent import far_server
from tests.nodes.agent.far_server import serving_far

__all__ = ["ROWS"]

ODD: Final = str(Path(far_server.__file__).with_name("odd_server.py"))
RAW: Final = str(Path(far_server.__file__).with_name("raw_server.py"))
DENYING: Final = Server(("serve",), name="shelf", policy=Policy(deny=("burn(titel=*)", "brun")))


def listing(**server: Any) -> Stimulus:
    return lambda: anyio.run(listed, mcp(*server.pop("command", ()), **server))


def calling(tool: str, arguments: dict[str, Any], *options: str, **server: Any) -> Stimulus:
    """Call a tool of a server that does not behave."""

    def stimulus() -> object:
        box = mcp(sys.executable, *(options or (ODD,)), name="odd", **server)
        return anyio.run(call_server_tool, box, tool, arguments)

    return stimulus


def endless() -> object:
    """List the tools of a server that gives the same page again."""
    page = SimpleNamespace(tools=[], next_cursor="again")

    async def list_tools(cursor: str | None) -> object:
        return page

    return anyio.run(connection.ToolList(DENYING).asked, SimpleNamespace(list_tools=list_tools))


def without_mcp() -> object:
    """Start a server where the library is not installed."""
    with patch.dict(sys.modules, {"mcp": None}), patch.object(connection, "_loaded", []):
        return anyio.run(connection.loaded, "files")


def refused() -> None:
    with serving_far("Bearer right") as server:
        listing(url=server.url, name="far", headers={"X-Reader": "me"})()


ROWS: Final = [
    Row("a server of nothing", lambda: mcp()),
    Row(
        "a server with all that it may not have",
        lambda: mcp("serve", url="ftp://here", env={"KEY": "sk-12"}, deadline=0),
    ),
    Row("a server whose command is one list", lambda: mcp(["serve", "here"])),
    Row("an address without a protocol", lambda: mcp(url="127.0.0.1:8765/mcp")),
    Row("an address without a host", lambda: mcp(url="http:///mcp")),
    Row("an address with a user", lambda: mcp(url="http://me:sk-12@here/mcp")),
    Row("an address with a password in which there is a mark", lambda: mcp(url="http://me:sk/12@here/mcp")),
    Row("an address in place of a command", lambda: mcp("https://here/mcp?key=sk-12")),
    Row("an address that is none", lambda: mcp(url="http://[::1")),
    Row(
        "a value in place of a variable", listing(command=("serve",), name="files", env={"TOKEN": "sk_live"})
    ),
    Row("a server that is not there", listing(url="http://127.0.0.1:9/mcp", name="far")),
    Row("variables in a text", lambda: mcp("serve", env="HOME")),
    Row(
        "headers that cannot be",
        lambda: mcp(
            "serve",
            headers={
                "Authorization": "Bearer sk-12",
                "X Y": "a",
                "X-A": "a\nb",
                "x-a": "${a-b}",
                "Accept": "a",
            },
        ),
    ),
    Row("a header that is no text", lambda: mcp(url="http://here", headers={"X-A": 3})),
    Row("headers in a text", lambda: mcp(url="http://here", headers="X-A: a")),
    Row(
        "a header without a value",
        listing(url="http://127.0.0.1:9/mcp", name="far", headers={"X-Key": "${NOT_SET_AT_ALL}"}),
    ),
    Row(
        "a header whose value has lines",
        listing(
            url="http://127.0.0.1:9/mcp", name="far", headers={"X-Key": Secret("LINES", "two of\nthe lines")}
        ),
    ),
    Row("a server that lets nobody in", refused, hide=r"(?<=127.0.0.1:)\d+"),
    Row(
        "patterns that fit no call of a server",
        lambda: unmet_of(DENYING, (ServerTool(DENYING, "burn", "", '{"type": "object", "properties": {}}'),)),
    ),
    Row("a server whose command is not there", listing(command=("no-such-command",), name="files")),
    Row(
        "a server that ends at once",
        listing(command=(sys.executable, "-c", "import sys; sys.exit('no library')"), name="files"),
    ),
    Row(
        "a server that does not answer", listing(command=("sleep", "60"), name="files", connect_deadline=0.2)
    ),
    Row("a server without its library", without_mcp, hide=r"import of .*(?=; pip)"),
    Row("a tool that fails", calling("is_full", {})),
    Row("a tool that does not answer", calling("is_silent", {}, deadline=0.2)),
    Row("a value with a blank for a variable", lambda: mcp("serve", env={"KEY": "sk 12"})),
    Row("an image without data", calling("pictures", {"data": "", "mimeType": "image/png"})),
    Row("an image of another type", calling("pictures", {"data": "", "mimeType": "text/plain"})),
    Row(
        "an image that is not base64",
        calling("pictures", {"data": "?", "mimeType": "image/png"}),
        hide=r"(?<=base64: ).*",
    ),
    Row("a server that ends during a call", calling("dies", {"ahead": 3})),
    Row("arguments that JSON does not have", calling("echo", {"text": object()})),
    Row("a call that needs an approval", calling("echo", {"text": "a"}, ask=["echo"])),
    Row("a tool that does not exist", calling("sing", {}), hide=r"_[0-9a-f]{8}"),
    Row("a server that does not list its tools", calling("sing", {}, RAW, "--no-tools")),
    Row("a server whose list does not end", endless),
    Row("a server whose line does not end", listing(command=("cat", "/dev/zero"), name="zeros")),
]
