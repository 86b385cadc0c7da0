"""Sessions with tool servers, shared within a run or a block; the lists and calls of their tools."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple, TypeVar

import anyio
from anyio.lowlevel import checkpoint, current_token

from dataflow import ArgumentInvalid, DataflowError, Shared, this_firing
from dataflow.authoring import Kind, sharing
from dataflow_agent.diagnostics.tools import CALL_FAILED, PATTERN_ARGUMENTS_UNKNOWN, PATTERN_UNMATCHED
from dataflow_agent.servers.connection import Connection, connected
from dataflow_agent.servers.results import Content, ServerFailed, ToolFailed, content_of
from dataflow_agent.servers.server import Server, ServerTool
from dataflow_agent.toolkit.policies import Policy, arguments_named, unmet, unmet_arguments
from dataflow_agent.toolkit.toolboxes import Listed, Toolbox

__all__ = ["called", "listed", "sessions", "unmet_of"]

T = TypeVar("T")
#: The code of the warning.
UNMET: Final = "unmet_pattern"
#: Keywords by which a schema may take arguments that are not among its properties.
OPEN: Final = ("additionalProperties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf")
EFFECTS: Final = {"allow": "allows nothing", "ask": "has nobody asked", "deny": "denies nothing"}


class _Block(NamedTuple):
    """A block of `sessions`: the keys of its servers, and the shared sessions."""

    keys: frozenset[object]
    shared: Shared
    loop: object  # a thread with another event loop inherits the block, and cannot use it


_BLOCKS: Final[ContextVar[tuple[_Block, ...]]] = ContextVar("sessions of tool servers", default=())


@asynccontextmanager
async def sessions(*toolboxes: Toolbox) -> AsyncIterator[None]:
    """Share the sessions of the servers of some toolboxes between all runs that are started in the block.

    A session is opened on first use, and closed at the end of the block. An error in the block is raised
    unchanged. A flow that a blocking tool runs in its thread has separate sessions.
    """
    keys = frozenset(server.key for box in toolboxes for server in box.servers)
    async with sharing() as shared:
        block = _Block(keys, shared, current_token())
        _BLOCKS.set((block, *_BLOCKS.get()))
        try:
            yield
        finally:  # another task, with another context, may leave the block
            _BLOCKS.set(tuple(one for one in _BLOCKS.get() if one is not block))


async def listed(toolbox: Toolbox) -> Toolbox:
    """Return the toolbox with the tools of its servers, which are listed once in each session.

    Warns (`unmet_pattern`) of patterns that fit no call of these tools: in the run, or outside of a run in
    the log. Raises ServerFailed for a server that does not start or does not answer, and SecretMissing.
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
    """Call a tool of a server once, and return the content of its result.

    Raises ToolFailed for a result that is an error and for a call without an answer in time, ServerFailed for
    a server that does not start or has ended, and SecretMissing.
    """
    result = await _used(tool.server, lambda connection: connection.call(tool, arguments))
    try:
        content = content_of(result)
    except ArgumentInvalid as error:
        raise ToolFailed(tool.server.label, tool.own_name, error.diagnostics[0]) from error
    if result.is_error:
        parts = [content] if isinstance(content, str) else content
        text = " ".join(part for part in parts if isinstance(part, str))
        failed = CALL_FAILED(error=text or "it does not say why")
        raise ToolFailed(tool.server.label, tool.own_name, failed)
    return content


async def _used(server: Server, use: Callable[[Connection], Awaitable[T]]) -> T:
    """Use the connection with a server; opens a new one if the previous one has ended."""
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
                        error = raised  # hidden from the owner of the connection
        except ServerFailed as raised:  # outside a run the end of the server is raised here
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


@lru_cache(maxsize=256)
def unmet_of(server: Server, tools: Sequence[ServerTool]) -> tuple[str, ...]:
    """Return a warning for each pattern of a server that fits no call of its tools."""
    given = {"allow": server.policy.allow or (), "ask": server.policy.ask, "deny": server.policy.deny}
    known, place = [tool.own_name for tool in tools], f"tool server {server.label!r}"
    return tuple(
        str(
            kind(
                place,
                pattern=pattern,
                where=f" of `{word}`",
                effect=f", and so it {EFFECTS[word]}",
                available=known,
            )
        )
        for word, patterns in given.items()
        for pattern, kind in _problems(Policy(deny=patterns), tools).items()
    )


def _problems(policy: Policy, tools: Sequence[ServerTool]) -> dict[str, Kind]:
    """Return the kind of problem of each pattern that matches nothing."""
    names = [tool.own_name for tool in tools]
    parameters = [(tool.own_name, _parameters(tool, policy)) for tool in tools]
    nameless = dict.fromkeys(unmet(policy, names), PATTERN_UNMATCHED)
    without = dict.fromkeys(unmet_arguments(policy, parameters), PATTERN_ARGUMENTS_UNKNOWN)
    return {**without, **nameless}


def _parameters(tool: ServerTool, policy: Policy) -> Collection[str]:
    """Return the arguments of a tool; a tool with an open schema takes those that the policy names."""
    schema = json.loads(tool.schema)
    if any(schema.get(key) for key in OPEN):
        return arguments_named(policy)
    return {*schema["properties"]}
