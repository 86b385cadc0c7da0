"""A tool server with an address, of the older protocol and written by hand, that may want a header."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from tests.nodes.agent.listening import listening

TOKEN: Final = "a-token-of-the-test"
#: Each tool answers by its name.
TOOLS: Final = [
    "hears", "is_full", "streams_full", "is_cut", "breaks_off", "is_invalid", "is_denied", "is_expired",
    "forgets", "is_broken", "goes_on", "repeats", "is_huge", "streams_huge", "is_packed",
]  # fmt: skip

#: A text that is longer than what is read of a message.
HUGE: Final = "x" * (16 * 2**20 + 1)


@dataclass
class FarServer:
    """The server, and what it has seen.

    wants: what the header `authorization` has to be; anything where it is empty
    paths: where each request went, with its query
    sent: the headers of each request, by their names in small letters
    sessions: how many there were
    """

    url: str = ""
    wants: str = ""
    paths: list[str] = field(default_factory=list)
    sent: list[dict[str, str]] = field(default_factory=list)
    sessions: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.paths.append(head.split(" ", 2)[1])
                lines = [line.split(": ", 1) for line in head.split("\r\n")[1:] if line]
                headers = {name.lower(): value for name, value in lines}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                self.sent.append(headers)
                if not self.answer(headers, json.loads(body or "{}"), writer):
                    break
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    def answer(self, headers: dict[str, str], asked: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        """Write what is answered; tells whether the connection is there still."""
        if self.wants and headers.get("authorization") != self.wants:
            send(writer, 401)
        elif "last-event-id" in headers:
            stream(writer, failed({"id": 0}, -32000, "the disk is full"))
        elif "id" not in asked:
            send(writer, 202 if "method" in asked else 200)
        elif asked["method"] == "initialize":
            self.sessions += 1
            told = {"name": "far", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": told}
            send(writer, 200, answered(asked, result), f"mcp-session-id: s{self.sessions}\r\n")
        elif asked["method"] == "tools/list":
            found = [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]
            send(writer, 200, answered(asked, {"tools": found}))
        elif asked["method"] == "tools/call":
            return call(asked, writer, headers)
        else:
            send(writer, 200, failed(asked, -32601, "there is no such method"))
        return True


def call(asked: dict[str, Any], writer: asyncio.StreamWriter, headers: dict[str, str]) -> bool:  # noqa: C901 - a tool each
    match asked["params"]["name"]:
        case "hears":
            content = [{"type": "text", "text": headers.get("authorization", "nothing")}]
            send(writer, 200, answered(asked, {"content": content}))
        case "is_full":
            send(writer, 200, failed(asked, -32000, "the disk is full"))
        case "streams_full":
            stream(writer, failed(asked, -32000, "the disk is full"))
        case "is_cut":
            stream(writer, None)
        case "breaks_off":
            stream(writer, None, ends=False)
            return False
        case "repeats":
            send(writer, 200, failed(asked, -32000, f"no {headers.get('authorization')}"))
        case "is_invalid":
            send(writer, 400, failed(asked, -32602, "there is no shelf"))
        case "is_denied":
            send(writer, 403, failed(asked, -32600, "only for readers"))
        case "is_expired" | "forgets" as name:
            send(writer, 401 if name == "is_expired" else 404)
        case "goes_on":
            stream(writer, None, "id: 7\nretry: 1\ndata:")
        case "is_broken":
            send(writer, 502)
        case "is_huge":
            send(writer, 200, answered(asked, {"content": [{"type": "text", "text": HUGE}]}))
        case "streams_huge":
            stream(writer, None, f"data: {HUGE}")
        case "is_packed":
            send(writer, 200, answered(asked, {"content": []}), "content-encoding: gzip\r\n")
    return True


def answered(asked: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": asked["id"], "result": result}


def failed(asked: dict[str, Any], code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": code, "message": message}}


def send(
    writer: asyncio.StreamWriter, status: int, found: dict[str, Any] | None = None, more: str = ""
) -> None:
    data = b"" if found is None else json.dumps(found).encode()
    kind = "" if found is None else "content-type: application/json\r\n"
    writer.write(f"HTTP/1.1 {status} X\r\n{kind}{more}content-length: {len(data)}\r\n\r\n".encode() + data)


def stream(
    writer: asyncio.StreamWriter, found: dict[str, Any] | None, event: str = ": nothing", *, ends: bool = True
) -> None:
    """Send a stream of events, with an answer in it, or with an event that is none."""
    told = event if found is None else f"event: message\ndata: {json.dumps(found)}"
    data = f"{told}\n\n".encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    writer.write(head + b"%x\r\n%s\r\n" % (len(data), data) + (b"0\r\n\r\n" if ends else b""))


@contextmanager
def serving_far(wants: str = "") -> Iterator[FarServer]:
    server = FarServer(wants=wants)
    with listening(server.serve) as port:
        server.url = f"http://127.0.0.1:{port}/mcp"
        yield server
