"""A model server on the loopback that writes answers in the wire formats of four providers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import pytest

__all__ = [
    "MODELS",
    "SHAPES",
    "SIGNATURE",
    "Asked",
    "Said",
    "WireServer",
    "model_keys",
    "openai_chunk",
    "openai_end",
    "wire_server",
]

#: The model by which each wire format is asked for.
MODELS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "openai": "openai/m", "anthropic": "anthropic/claude-sonnet-4-5-20250929",
        "gemini": "gemini/gemini-2.5-flash", "ollama": "ollama_chat/m",
    }
)  # fmt: skip
SIGNATURE: Final = "c2lnbmF0dXJl"
#: The finish reasons of the providers: of a complete answer, with calls, at the limit, of a filter.
FINISHED: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "openai": {"stop": "stop", "calls": "tool_calls", "length": "length", "filter": "content_filter"},
        "anthropic": {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens", "filter": "refusal"},
        "gemini": {"stop": "STOP", "calls": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY"},
        "ollama": {"stop": "stop", "calls": "stop", "length": "length", "filter": "stop"},
    }
)


@dataclass(frozen=True)
class Said:
    """What the model says: pieces of text and of thinking, calls as pairs of a name and arguments, a refusal.

    `finish` is a key of FINISHED; an empty one leaves the finish reason out, as if the connection had ended.
    """

    text: tuple[str, ...] = ()
    thinking: tuple[str, ...] = ()
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    refusal: str = ""
    finish: str = "stop"


Events: TypeAlias = list[bytes]


def _sse(data: Any, name: str = "") -> bytes:
    event = f"event: {name}\n" if name else ""
    return f"{event}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def _openai_whole(said: Said) -> Any:
    calls = [
        {"id": f"k{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for n, (name, given) in enumerate(said.calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": "".join(said.text) or None}
    message |= {"tool_calls": calls} if calls else {}
    message |= {"reasoning_content": "".join(said.thinking)} if said.thinking else {}
    message |= {"refusal": said.refusal} if said.refusal else {}
    choice = {"index": 0, "message": message, "finish_reason": FINISHED["openai"][said.finish]}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}}  # fmt: skip


def openai_chunk(delta: Any, finish: str | None = None) -> bytes:
    """Return one piece of an answer in the format of OpenAI."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _sse(
        {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    )


def _openai_streamed(said: Said) -> Iterator[bytes]:
    yield openai_chunk({"role": "assistant", "content": None})
    for part in said.thinking:
        yield openai_chunk({"reasoning_content": part})
    for part in said.text:
        yield openai_chunk({"content": part})
    if said.refusal:
        yield openai_chunk({"refusal": said.refusal[:5]})
        yield openai_chunk({"refusal": said.refusal[5:]})
    for n, (name, given) in enumerate(said.calls):
        call = {"index": n, "id": f"k{n}", "type": "function", "function": {"name": name, "arguments": ""}}
        yield openai_chunk({"tool_calls": [call]})
        written = json.dumps(given)
        for part in (written[:4], written[4:]):
            yield openai_chunk({"tool_calls": [{"index": n, "function": {"arguments": part}}]})
    if said.finish:
        yield from openai_end(FINISHED["openai"][said.finish])


def openai_end(finish: str) -> Events:
    """Return the end of a stream: the finish reason, the usage, and the mark of the end."""
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    last = {
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [],
        "usage": usage,
    }  # fmt: skip
    return [openai_chunk({}, finish), _sse(last), _sse("[DONE]")]


def _anthropic_blocks(said: Said) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if said.thinking:
        blocks.append({"type": "thinking", "thinking": "".join(said.thinking), "signature": SIGNATURE})
        blocks.append({"type": "redacted_thinking", "data": "c2VjcmV0"})
    if said.text or said.refusal:
        blocks.append({"type": "text", "text": "".join(said.text) or said.refusal})
    blocks += [
        {"type": "tool_use", "id": f"k{n}", "name": name, "input": given}
        for n, (name, given) in enumerate(said.calls)
    ]
    return blocks


def _anthropic_head(content: Any, stop: str | None, output: int) -> dict[str, Any]:
    return {"id": "m1", "type": "message", "role": "assistant", "model": "claude", "content": content,
            "stop_reason": stop, "stop_sequence": None,
            "usage": {"input_tokens": 11, "output_tokens": output}}  # fmt: skip


def _anthropic_whole(said: Said) -> Any:
    return _anthropic_head(_anthropic_blocks(said), FINISHED["anthropic"][said.finish], 7)


def _anthropic_deltas(block: Mapping[str, Any]) -> list[dict[str, Any]]:
    match block["type"]:
        case "thinking":
            text = block["thinking"]
            return [
                {"type": "thinking_delta", "thinking": text[:5]},
                {"type": "thinking_delta", "thinking": text[5:]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        case "text":
            text = block["text"]
            return [{"type": "text_delta", "text": text[:5]}, {"type": "text_delta", "text": text[5:]}]
        case "tool_use":
            text = json.dumps(block["input"])
            return [{"type": "input_json_delta", "partial_json": part} for part in (text[:4], text[4:])]
        case _:
            return []


def _anthropic_streamed(said: Said) -> Iterator[bytes]:
    def event(name: str, **data: Any) -> bytes:
        return _sse({"type": name, **data}, name)

    empty = {"text": "", "thinking": "", "signature": "", "input": {}}
    yield event("message_start", message=_anthropic_head([], None, 1))
    for n, block in enumerate(_anthropic_blocks(said)):
        start = {key: empty.get(key, value) for key, value in block.items()}
        yield event("content_block_start", index=n, content_block=start)
        for delta in _anthropic_deltas(block):
            yield event("content_block_delta", index=n, delta=delta)
        yield event("content_block_stop", index=n)
    if said.finish:
        stop = {"stop_reason": FINISHED["anthropic"][said.finish], "stop_sequence": None}
        yield event("message_delta", delta=stop, usage={"output_tokens": 7})
        yield event("message_stop")


def _gemini_answer(parts: list[dict[str, Any]], finish: str) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    candidate |= {"finishReason": FINISHED["gemini"][finish]} if finish else {}
    usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "g", "responseId": "r"}


def _gemini_parts(said: Said) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"text": part, "thought": True} for part in said.thinking]
    parts += [{"text": part} for part in said.text or filter(None, [said.refusal])]
    calls: list[dict[str, Any]] = [
        {"functionCall": {"name": name, "args": given}} for name, given in said.calls
    ]
    if said.thinking:
        (calls or parts)[0 if calls else -1]["thoughtSignature"] = SIGNATURE
    return [*parts, *calls]


def _gemini_whole(said: Said) -> Any:
    return _gemini_answer(_gemini_parts(said), said.finish)


def _gemini_streamed(said: Said) -> Iterator[bytes]:
    parts = _gemini_parts(said)
    for part in parts[:-1]:
        yield _sse(_gemini_answer([part], ""))
    yield _sse(_gemini_answer(parts[-1:], said.finish))


def _ollama_message(said: Said) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "".join(said.text) or said.refusal}
    message |= {"thinking": "".join(said.thinking)} if said.thinking else {}
    calls = [{"function": {"name": name, "arguments": given}} for name, given in said.calls]
    return message | ({"tool_calls": calls} if calls else {})


def _ollama_end(message: Any, finish: str) -> dict[str, Any]:
    return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": True,
            "done_reason": FINISHED["ollama"][finish], "prompt_eval_count": 11, "eval_count": 7}  # fmt: skip


def _ollama_whole(said: Said) -> Any:
    return _ollama_end(_ollama_message(said), said.finish)


def _ollama_streamed(said: Said) -> Iterator[bytes]:
    def line(data: Any) -> bytes:
        return json.dumps(data).encode() + b"\n"

    head = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": False}
    for part in said.thinking:
        yield line({**head, "message": {"role": "assistant", "content": "", "thinking": part}})
    for part in said.text or filter(None, [said.refusal]):
        yield line({**head, "message": {"role": "assistant", "content": part}})
    for name, given in said.calls:
        call = {"function": {"name": name, "arguments": given}}
        yield line({**head, "message": {"role": "assistant", "content": "", "tool_calls": [call]}})
    if said.finish:
        yield line(_ollama_end({"role": "assistant", "content": ""}, said.finish))


#: Each wire format: an answer that is written whole, and one in pieces.
SHAPES: Final[Mapping[str, tuple[Callable[[Said], Any], Callable[[Said], Iterator[bytes]]]]] = (
    MappingProxyType(
        {
            "openai": (_openai_whole, _openai_streamed), "anthropic": (_anthropic_whole, _anthropic_streamed),
            "gemini": (_gemini_whole, _gemini_streamed), "ollama": (_ollama_whole, _ollama_streamed),
        }
    )
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """One request: its path, headers and body."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def is_streamed(self) -> bool:
        """Whether the answer shall come in pieces."""
        return "stream" in self.path or bool(self.body.get("stream"))


#: An answer: JSON, a status and JSON, or the pieces of a stream.
Answer: TypeAlias = "dict[str, Any] | tuple[int, dict[str, Any]] | Events | Said"


@dataclass
class WireServer:
    """A server that answers each request by `answer`; a `Said` is written in the format `shape`."""

    answer: Callable[[Asked], Any]
    shape: str = "openai"
    url: str = ""
    asked: list[Asked] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        """The address under which the provider of this format looks for its models."""
        return f"{self.url}/v1" if self.shape == "openai" else self.url

    def reply(self, asked: Asked) -> tuple[int, bool, bytes | Events]:
        """Return the status, whether the answer is a stream, and the answer."""
        self.asked.append(asked)
        found = self.answer(asked)
        if isinstance(found, Said):
            whole, streamed = SHAPES[self.shape]
            found = [*streamed(found)] if asked.is_streamed else whole(found)
        if isinstance(found, list):
            return 200, True, found
        status, body = found if isinstance(found, tuple) else (200, found)
        return status, False, json.dumps(body).encode()


def _handler(server: WireServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            """Print nothing."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
            asked = Asked(self.path, dict(self.headers), body)
            is_answer = not self.path.endswith("/api/show")  # which litellm asks Ollama about the model
            status, is_stream, found = server.reply(asked) if is_answer else (404, False, b"{}")
            kind = "application/x-ndjson" if server.shape == "ollama" else "text/event-stream"
            self.send_response(status)
            self.send_header("Content-Type", kind if is_stream else "application/json")
            self.send_header("Connection", "close")
            if isinstance(found, bytes):
                self.send_header("Content-Length", str(len(found)))
            self.end_headers()
            self.wfile.write(found if isinstance(found, bytes) else b"".join(found))
            self.close_connection = True

    return Handler


def model_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a key for each provider that the tests call, and no address."""
    for provider in ("OPENAI", "ANTHROPIC", "GEMINI", "DEEPSEEK", "OPENROUTER"):
        monkeypatch.setenv(f"{provider}_API_KEY", "key-of-the-tests")
        monkeypatch.delenv(f"{provider}_API_BASE", raising=False)


@contextmanager
def wire_server(answer: Callable[[Asked], Any], shape: str = "openai") -> Iterator[WireServer]:
    """Serve on the loopback in a thread, at a free port."""
    server = WireServer(answer, shape)
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    http.daemon_threads = True
    server.url = f"http://127.0.0.1:{http.server_port}"
    serving = threading.Thread(target=http.serve_forever, daemon=True)
    serving.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        serving.join()
