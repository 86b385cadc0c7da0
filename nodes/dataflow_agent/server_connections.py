"""Connections to tool servers: opened on first use, and shared by the firings of a sitting (S10.6)."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, Final, TypeVar

import anyio

from dataflow_agent.mcp_loading import loaded
from dataflow_agent.server_errors import ServerDied, ServerFailed, ToolFailed
from dataflow_agent.server_processes import ServerProcess
from dataflow_agent.server_schemas import reading_schemas, schema_of
from dataflow_agent.servers import Server, ServerTool, environment_of

__all__ = ["Connection", "connected"]

LOG: Final = logging.getLogger("dataflow_agent.servers")
#: How often a server is started that ends before it has answered, and how long it is waited before each.
STARTS: Final = 3
WAIT_SECONDS: Final = 0.1
#: How long the end of a server may take to be known once the connection to it has broken.
END_SECONDS: Final = 1.5
LIST: Final = "the list of its tools"

T = TypeVar("T")


class Connection:
    """A session with a server, owned by one task and used by any number."""

    def __init__(self, server: Server, process: ServerProcess | None) -> None:
        self.server = server
        self.is_open = False
        self.ended = anyio.Event()
        self._process = process
        self._lost = anyio.Event()  # the connection, though the process may be there
        self._cause = ""  # of the loss
        self._client: Any = None
        self._death: ServerFailed | None = None
        self._pending: set[anyio.CancelScope] = set()
        self._listing = anyio.Lock()
        self._tools: tuple[ServerTool, ...] | None = None
        self._notices = 0  # of changes of the list of its tools

    @property
    def is_usable(self) -> bool:
        """Whether there may be answers."""
        return self._death is None

    async def tools(self) -> tuple[ServerTool, ...]:
        """Return its tools, asked for once, and anew when it has told of a change; raises ServerFailed."""
        async with self._listing:
            if self._tools is not None:
                return self._tools
            before = self._notices
            try:
                found = await self._answer(LIST, self._listed)
            except ToolFailed as error:
                text = f"does not tell its tools: {error.text}"
                raise ServerFailed(self.server.label, text) from error
            if before == self._notices:
                self._tools = found
            return found

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool once, and return its result; raises ToolFailed, and ServerDied."""
        return await self._answer(tool, lambda: self._client.call_tool(tool, dict(arguments)))

    async def _answer(self, what: str, ask: Callable[[], Awaitable[T]]) -> T:
        """Wait for an answer in its time, and as long as the server lives."""
        from mcp import MCPError  # loaded by now

        scope = anyio.CancelScope(deadline=anyio.current_time() + self.server.deadline)
        self._pending.add(scope)
        try:
            if self._death is None:
                with scope:
                    return await ask()
                if self._death is None:
                    text = f"has not answered within {self.server.deadline:g} s; the call was cancelled"
                    raise ToolFailed(self.server.label, what, text)
        except MCPError as error:
            if await self._is_alive(error):
                raise ToolFailed(self.server.label, what, f"has failed: {error}") from error
        except (RuntimeError, ValueError) as error:  # of the library, which has looked at the answer
            raise ToolFailed(self.server.label, what, f"has an answer that does not fit: {error}") from error
        finally:
            self._pending.discard(scope)
        again = "" if what is LIST else ", which is not called again"
        raise ServerDied(self.server.label, f"has died during {what!r}{again}: {self._told_end()}")

    async def _is_alive(self, error: Any) -> bool:
        """Tell whether an error is only that of a call; the end of a process may be known a little later."""
        from mcp_types import CONNECTION_CLOSED, INVALID_REQUEST

        is_gone = self._process is None and error.code == INVALID_REQUEST  # it knows the session no more
        if error.code == CONNECTION_CLOSED or is_gone:
            if self._process is not None:
                with anyio.move_on_after(END_SECONDS):
                    await self._process.ended.wait()
            self._cause = self._cause or str(error)
            self._die()
            self._lost.set()
        return self._death is None

    def _told_end(self) -> str:
        if self._process is not None:
            return self._process.told()
        return ": ".join(filter(None, ("the connection was lost", self._cause)))

    def _die(self) -> None:
        """Note that there will be no more answers, and have those who wait told."""
        if self._death is None:
            self._death = ServerDied(self.server.label, f"has died: {self._told_end()}")
        for scope in self._pending:
            scope.cancel()

    async def _listed(self) -> tuple[ServerTool, ...]:
        found: list[ServerTool] = []
        cursor: str | None = None
        while True:
            page = await self._client.list_tools(cursor=cursor)
            found += (
                ServerTool(self.server, tool.name, tool.description or "", schema_of(tool.input_schema))
                for tool in page.tools
            )
            cursor = page.next_cursor
            if cursor is None:
                return tuple(found)

    def _forget_tools(self) -> None:
        self._notices += 1
        self._tools = None

    async def _noticed(self, message: Any) -> None:
        """Look at what a server of the older protocol tells by itself."""
        from mcp_types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._forget_tools()

    async def _listen(self) -> None:
        """Hear of changes of the list, from a server that tells them to those who ask for it."""
        from mcp import MCPError
        from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost

        try:
            async with self._client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._forget_tools()
        except (ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError) as error:
            LOG.debug("tool server %r tells of no changes: %s", self.server.label, error)

    async def _watch(self, end: anyio.Event) -> None:
        """Raise ServerDied when the process has ended, or the connection is lost."""
        await end.wait()
        self._die()
        assert self._death is not None
        raise self._death

    @asynccontextmanager
    async def open(self, until: float) -> AsyncIterator[Connection]:
        """Be open while the block runs; raises ServerFailed, and ServerDied if the server ends before it."""
        mcp = await loaded(self.server.label)
        if self._process is None:
            transport = mcp.client.streamable_http.streamable_http_client(self.server.url)
        else:
            transport = self._process.streams()
        typed = reading_schemas(transport)
        client = mcp.Client(typed, message_handler=self._noticed, cache=None)
        try:
            with anyio.CancelScope(deadline=until) as scope:
                async with client as self._client, anyio.create_task_group() as group:
                    scope.deadline = float("inf")
                    self.is_open = True
                    group.start_soon(self._listen)
                    group.start_soon(self._watch, self._lost)
                    if self._process is not None:
                        group.start_soon(self._watch, self._process.ended)
                    try:
                        yield self
                    finally:
                        group.cancel_scope.cancel()
        except Exception as error:  # noqa: BLE001 - whatever the library raises, in groups
            self._cause = self._cause or _first(error)
            self._die()
            told = self._told(error)
            raise told from (None if told is self._death else error)
        finally:
            self._die()
            self.ended.set()
        if not self.is_open:
            words = "" if self._process is None else self._process.last_words
            text = f"has not answered within {self.server.connect_deadline:g} s"
            raise ServerFailed(self.server.label, "; ".join(filter(None, (text, words))), is_lasting=True)

    def _told(self, error: Exception) -> ServerFailed:
        """Return what is raised in place of what the library has raised, which is a group of groups."""
        own, _ = error.split(ServerFailed) if isinstance(error, ExceptionGroup) else (error, None)
        while isinstance(own, ExceptionGroup):
            own = own.exceptions[0]
        if isinstance(own, ServerFailed):
            return own
        if self.is_open and self._death is not None:
            return self._death
        if self._process is not None:
            return ServerFailed(self.server.label, f"could not be started: {self._told_end()}")
        return ServerFailed(
            self.server.label, f"could not be reached at {self.server.address}: {_first(error)}"
        )


def _first(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}".removesuffix(": ")


@asynccontextmanager
async def connected(server: Server) -> AsyncIterator[Connection]:
    """Connect to a server while the block runs; one that ends at once is started up to three times.

    Raises ServerFailed, and SecretMissing for a variable without a value.
    """
    until = anyio.current_time() + server.connect_deadline
    async with AsyncExitStack() as stack:
        for start in range(1, STARTS + 1):
            try:
                found = await stack.enter_async_context(_started(server, until))
            except ServerFailed as error:
                if error.is_lasting:
                    raise
                if start == STARTS:
                    raise ServerFailed(server.label, f"{_reason(error)} ({STARTS} starts)") from error
                await anyio.sleep(WAIT_SECONDS * start)
            else:
                yield found
                return


def _started(server: Server, until: float) -> AbstractAsyncContextManager[Connection]:
    if server.url:
        return Connection(server, None).open(until)
    process = ServerProcess(server.label, server.command, environment_of(server))
    return Connection(server, process).open(until)


def _reason(error: ServerFailed) -> str:
    return str(error).partition("' ")[2]
