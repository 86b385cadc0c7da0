"""A server on the loopback that speaks the protocol of OpenAI's chat completions, by a script.

What it does is told by the name of the model that is asked for. It runs in a thread of its own, so that it
serves whatever loop the tests run on.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from tests.nodes.agent.listening import listening

KEY: Final = "sk-right-key-of-the-test"
USAGE: Final = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
TEXT: Final = "Hello, there"
#: What it says to whoever wants JSON.
JSON: Final = '{"is_good": true, "reason": "it rhymes"}'

#: What refuses each request: status, text, header, code. The model `limited` does so only once.
REFUSED: Final[dict[str, tuple[int, str, str, str | None]]] = {
    "limited": (429, "slow down", "retry-after: 60\r\n", None),
    "long": (400, "This model's maximum context length is 8 tokens", "", "context_length_exceeded"),
    "odd": (400, "no such thing", "", None),
    "broken": (500, "it is our fault", "", None),
    "busy": (503, "overloaded", "retry-after: 4\r\n", None),
    "filtered": (400, "content management policy", "", "content_policy_violation"),
}


def delta(reason: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


#: A call of a tool, in pieces.
CALL: Final = [
    delta(tool_calls=[{"index": 0, "id": "call_1", "function": {"name": "add", "arguments": ""}}]),
    *(delta(tool_calls=[{"index": 0, "function": {"arguments": part}}]) for part in ('{"a"', ": 1}")),
]


@dataclass
class FakeServer:
    """The server, and what it has seen.

    asked: the body of each request, in order
    running, peak: how many requests are being answered now, and were at most
    closed: is set when a client goes away before its answer is whole
    began: is set when the first piece of a slow answer is out
    gate: how many requests have to run at once before a model `gated` answers any of them
    """

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    running: int = 0
    peak: int = 0
    closed: threading.Event = field(default_factory=threading.Event)
    began: threading.Event = field(default_factory=threading.Event)
    gate: int = 1
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
            body = json.loads(await reader.readexactly(int(fields["content-length"])))
            self.asked.append(body)
            self.running += 1
            self.peak = max(self.peak, self.running)
            try:
                if fields.get("authorization") != f"bearer {KEY}":
                    await refuse(writer, 401, "Incorrect API key provided: " + fields["authorization"][7:])
                else:
                    await self.answer(body, reader, writer)
            finally:
                self.running -= 1
        except (ConnectionError, asyncio.IncompleteReadError):
            self.closed.set()
        finally:
            writer.close()

    async def answer(
        self, body: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if body["model"] in REFUSED and (body["model"] != "limited" or len(self.asked) == 1):
            await refuse(writer, *REFUSED[body["model"]])
            return
        match body["model"]:
            case "slow":
                await stream(writer, [delta(content="Hel")], ends=False)
                self.began.set()
                await reader.read()  # until the client goes away
                self.closed.set()
            case "cut":
                await stream(writer, [delta(content="Hel")], ends=False)
                writer.transport.abort()
            case "unfinished":
                await stream(writer, [delta(content="Hel"), delta(content="lo")])
            case "lengthy":
                await self.give(body, writer, "Hello, th", reason="length")
            case "tools":
                await stream(writer, [*CALL, delta("tool_calls"), usage()])
            case "gated":
                if self.running >= self.gate:
                    self.reached.set()
                await self.reached.wait()
                await self.give(body, writer, str(body["messages"][-1]["content"]))
            case _:
                await self.give(body, writer, JSON if "response_format" in body else TEXT)

    async def give(
        self, body: dict[str, Any], writer: asyncio.StreamWriter, text: str, reason: str = "stop"
    ) -> None:
        if body.get("stream"):
            pieces = [delta(content=text[start : start + 4]) for start in range(0, len(text), 4)]
            await stream(writer, [*pieces, delta(reason), usage()])
            return
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        await send(writer, 200, {"id": "c", "object": "chat.completion", "created": 1, "model": body["model"],
                                 "choices": [choice], "usage": USAGE})  # fmt: skip


def usage() -> dict[str, Any]:
    return {**delta(), "choices": [], "usage": USAGE}


async def stream(writer: asyncio.StreamWriter, pieces: list[dict[str, Any]], *, ends: bool = True) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
                 b"connection: close\r\n\r\n")  # fmt: skip
    for piece in [*map(json.dumps, pieces), *(["[DONE]"] if ends else [])]:
        data = f"data: {piece}\n\n".encode()
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()
    if ends:
        writer.write(b"0\r\n\r\n")
        await writer.drain()


async def refuse(
    writer: asyncio.StreamWriter, status: int, told: str, more: str = "", code: str | None = None
) -> None:
    kind = "invalid_request_error"
    await send(writer, status, {"error": {"message": told, "type": kind, "code": code}}, more)


async def send(writer: asyncio.StreamWriter, status: int, found: dict[str, Any], more: str = "") -> None:
    data = json.dumps(found).encode()
    head = f"HTTP/1.1 {status} OK\r\ncontent-type: application/json\r\n{more}"
    writer.write(f"{head}connection: close\r\ncontent-length: {len(data)}\r\n\r\n".encode() + data)
    await writer.drain()


@contextmanager
def serving() -> Iterator[FakeServer]:
    server = FakeServer()
    with listening(server.serve) as port:
        server.url = f"http://127.0.0.1:{port}/v1"
        yield server
