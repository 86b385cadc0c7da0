"""The schemas of tools, as servers write them and as providers take them (S10.6)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any, Self

import anyio

__all__ = ["reading_schemas", "schema_of"]


def schema_of(given: Mapping[str, Any]) -> str:
    """Return a schema as all providers take it, as JSON: an object with properties, without a dialect."""
    told = {name: value for name, value in given.items() if name != "$schema"}
    return json.dumps({**told, "type": "object", "properties": told.get("properties") or {}})


@asynccontextmanager
async def reading_schemas(
    transport: AbstractAsyncContextManager[tuple[Any, Any]],
) -> AsyncIterator[tuple[Any, Any]]:
    """Exchange messages with a server whose schemas may have no type, which the library would refuse."""
    async with transport as (read, write):
        yield _Typed(read), write


class _Typed:
    """A stream of messages, in which each schema has a type."""

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
    """Give the schemas of a list of tools their type, if it is one; anything else stays as it is."""
    result = getattr(getattr(received, "message", None), "result", None)
    found = result.get("tools") if isinstance(result, dict) else None
    for tool in found if isinstance(found, list) else ():
        if isinstance(tool, dict) and isinstance(tool.get("inputSchema", {}), dict):
            tool["inputSchema"] = {"type": "object", **tool.get("inputSchema", {})}
    return received
