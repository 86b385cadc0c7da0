"""Errors of tool servers, and their results and schemas in the form that models receive."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

import anyio

from dataflow import ArgumentInvalid, DataflowError, Diagnostic, Image
from dataflow_agent.diagnostics.tools import RESULT_INVALID

__all__ = [
    "Content",
    "ServerDied",
    "ServerFailed",
    "ToolFailed",
    "content_of",
    "joined",
    "reading_schemas",
    "schema_of",
    "shown",
]

Content: TypeAlias = str | tuple[str | Image, ...]
"""The content of a message: a string, or strings and images."""
_MEDIA_TYPE: Final = re.compile(r"image/[A-Za-z0-9][A-Za-z0-9.+-]*")


class ServerFailed(DataflowError):
    """Raised when a tool server cannot be started or reached, refuses access, or violates the protocol.

    `is_lasting` says that another start would fail in the same way.
    """

    problem: Diagnostic

    def __init__(self, server: str, problem: Diagnostic, *, is_lasting: bool = False) -> None:
        self.server = server
        self.is_lasting = is_lasting
        super().__init__(problem.within(f"tool server {server!r}"))
        self.problem = problem


class ServerDied(ServerFailed):
    """Raised when a tool server has ended, or the connection to it was lost, while it was in use."""


class ToolFailed(DataflowError):
    """Raised for a call that was answered with an error, was not answered in time, or is not allowed."""

    problem: Diagnostic

    def __init__(self, server: str, tool: str, problem: Diagnostic) -> None:
        self.server = server
        self.tool = tool
        super().__init__(problem.within(f"tool {tool!r} of server {server!r}"))
        self.problem = problem


def joined(parts: list[str | Image]) -> Content:
    """Return parts as the content of a message: one string, unless there are images."""
    if any(isinstance(part, Image) for part in parts):
        return tuple(part for part in parts if part)
    return "\n".join(str(part) for part in parts)


def shown(content: Content) -> str:
    """Return content as one string, in which each image is only named."""
    if isinstance(content, str):
        return content
    return "\n".join(part if isinstance(part, str) else f"[image, {part.media_type}]" for part in content)


def content_of(result: Any) -> Content:
    """Return the content of a result: its texts, joined, else its structured content as JSON, and its images.

    Raises ValueError for an invalid image.
    """
    texts: list[str] = []
    images: list[Image] = []
    for part in result.content:
        match part.type:
            case "text":
                texts.append(part.text)
            case "image":
                images.append(_image(part))
            case "resource" if getattr(part.resource, "text", None) is not None:
                texts.append(part.resource.text)
            case "resource_link":
                texts.append(f"[{part.name}]({part.uri})")
            case other:
                texts.append(f"[{other}, which cannot be shown]")
    if not texts and result.structured_content is not None:
        texts.append(json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":")))
    return joined(["\n".join(texts), *images] if texts else [*images])


def _image(part: Any) -> Image:
    if _MEDIA_TYPE.fullmatch(part.mime_type) is None:
        raise _invalid(f"it has an image of the type {part.mime_type!r}")
    try:
        data = b64decode("".join(part.data.split()), validate=True)
    except ValueError as error:
        raise _invalid(f"the data of an image are not base64: {error}") from error
    if not data:
        raise _invalid("it has an image without data")
    return Image(part.mime_type, data)


def _invalid(reason: str) -> ArgumentInvalid:
    return ArgumentInvalid(RESULT_INVALID(error=reason))


def schema_of(given: Mapping[str, Any]) -> str:
    """Return the schema of the arguments of a tool as JSON: of an object with properties."""
    return json.dumps({**given, "type": "object", "properties": given.get("properties") or {}})


@asynccontextmanager
async def reading_schemas(
    transport: AbstractAsyncContextManager[tuple[Any, Any]],
) -> AsyncIterator[tuple[Any, Any]]:
    """Exchange messages with a server whose schemas may lack a type, which the library refuses."""
    async with transport as (read, write):
        yield _Typed(read), write


class _Typed:
    """A stream of messages that adds the type to schemas without one."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def receive(self) -> Any:
        return _typed(await self._stream.receive())

    def __aiter__(self) -> _Typed:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        ended: bool | None = await self._stream.__aexit__(kind, raised, traceback)
        return ended


def _typed(received: Any) -> Any:
    """Add the type to the schemas in a list of tools; other messages are unchanged."""
    result = getattr(getattr(received, "message", None), "result", None)
    found = result.get("tools") if isinstance(result, dict) else None
    for tool in found if isinstance(found, list) else ():
        if isinstance(tool, dict) and isinstance(tool.get("inputSchema", {}), dict):
            tool["inputSchema"] = {"type": "object", **tool.get("inputSchema", {})}
    return received
