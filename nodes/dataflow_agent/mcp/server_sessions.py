"""Sessions with tool servers: one for each in a sitting, or for all runs in a block (S10.6)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import anyio
from anyio.lowlevel import checkpoint, current_token

from dataflow import DataflowError, Shared, this_firing
from dataflow.authoring import sharing
from dataflow_agent.mcp.server_connections import Connection, connected
from dataflow_agent.mcp.server_errors import ServerFailed, ToolFailed
from dataflow_agent.mcp.server_patterns import UNMET, unmet_of
from dataflow_agent.mcp.server_results import Content, content_of
from dataflow_agent.mcp.servers import Server, ServerTool
from dataflow_agent.tools.toolboxes import Listed, Toolbox

__all__ = ["called", "listed", "sessions"]

T = TypeVar("T")


class _Block(NamedTuple):
    """The servers whose sessions belong to a block, and where these are."""

    keys: frozenset[object]
    shared: Shared
    loop: object  # a thread that runs a loop of its own inherits the block, and cannot use it


_BLOCKS: Final[ContextVar[tuple[_Block, ...]]] = ContextVar("sessions of tool servers", default=())


@asynccontextmanager
async def sessions(*toolboxes: Toolbox) -> AsyncIterator[None]:
    """Let all runs that are started in the block share the sessions of the servers of some toolboxes.

    Each is opened when it is first used, and closed when the block is left. An error in the block is raised
    as it is. A flow that a blocking tool runs in its thread has sessions of its own.
    """
    keys = frozenset(server.key for box in toolboxes for server in box.servers)
    async with sharing() as shared:
        block = _Block(keys, shared, current_token())
        _BLOCKS.set((block, *_BLOCKS.get()))
        try:
            yield
        finally:  # another task may leave the block, which has a context of its own
            _BLOCKS.set(tuple(one for one in _BLOCKS.get() if one is not block))


async def listed(toolbox: Toolbox) -> Toolbox:
    """Return the toolbox with the tools of its servers; each is asked for them once in its session.

    Warns (`unmet_pattern`) of patterns that fit no call of these tools: the run, and outside of one the log.
    Raises ServerFailed for a server that does not start or does not answer, and SecretMissing.
    """
    servers = [source for source in toolbox.sources if isinstance(source, Server)]
    if not servers:
        return toolbox
    found: dict[Server, tuple[ServerTool, ...]] = {}
    failed: dict[Server, DataflowError] = {}

    async def ask(server: Server) -> None:
        try:
            found[server] = await _used(server, lambda connection: connection.tools(server))
        except DataflowError as error:
            failed[server] = error

    async with anyio.create_task_group() as group:
        for server in dict.fromkeys(servers):
            group.start_soon(ask, server)
    for server in servers:
        if server in failed:
            raise failed[server]
    firing = this_firing()
    for server in dict.fromkeys(servers):
        for text in unmet_of(server, found[server]):
            firing.warn(UNMET, text)
    return replace(
        toolbox,
        sources=tuple(Listed(one, found[one]) if isinstance(one, Server) else one for one in toolbox.sources),
    )


async def called(tool: ServerTool, arguments: Mapping[str, Any]) -> Content:
    """Call a tool of a server once, and return what it says.

    Raises ToolFailed for an error and for an answer that does not come in time, ServerFailed for a server
    that does not start or has died, and SecretMissing.
    """
    result = await _used(tool.server, lambda connection: connection.call(tool, arguments))
    try:
        content = content_of(result)
    except ValueError as error:
        text = f"has an answer that does not fit: {error}"
        raise ToolFailed(tool.server.label, tool.own_name, text) from error
    if result.is_error:
        parts = [content] if isinstance(content, str) else content
        text = " ".join(part for part in parts if isinstance(part, str))
        raise ToolFailed(tool.server.label, tool.own_name, f"has failed: {text or 'it does not say why'}")
    return content


async def _used(server: Server, use: Callable[[Connection], Awaitable[T]]) -> T:
    """Use the connection with a server, a new one if that of before has died."""
    while True:
        found: list[T] = []
        error: DataflowError | None = None
        has_died = False
        try:
            async with _opened(server) as connection:
                has_died = not connection.is_usable
                if has_died:
                    await connection.ended.wait()
                else:
                    try:
                        found.append(await use(connection))
                    except (ToolFailed, ServerFailed) as raised:
                        error = raised  # the owner of the connection is not to see it
        except ServerFailed as raised:  # outside a run it is raised here that the server has died
            error = error or raised
        if found:
            return found[0]
        if error is not None:
            raise error
        await checkpoint()


def _opened(server: Server) -> AbstractAsyncContextManager[Connection]:
    open_it = partial(connected, server)
    for block in _BLOCKS.get():
        if server.key in block.keys and block.loop == current_token():
            return block.shared.opened(server.key, open_it)
    return this_firing().opened(server.key, open_it)
