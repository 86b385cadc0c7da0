"""Connections to tool servers: opened on first use, and shared by the firings of a sitting (S10.6)."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

import anyio
from pydantic_core import to_json

from dataflow_agent.mcp_loading import loaded
from dataflow_agent.server_errors import ServerDied, ServerFailed, ToolFailed
from dataflow_agent.server_lists import ToolList
from dataflow_agent.server_processes import ServerProcess
from dataflow_agent.server_schemas import reading_schemas
from dataflow_agent.servers import Server, ServerTool, environment_of, marks_of

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
    """A session with a server, owned by one task and used by any number.

    Each may have a description of its own, with another name and other deadlines than that it was opened by.
    """

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
        self._list = ToolList(server)

    @property
    def is_usable(self) -> bool:
        """Whether there may be answers."""
        return self._death is None

    async def tools(self, server: Server) -> tuple[ServerTool, ...]:
        """Return its tools, as those of a description of it; raises ServerFailed."""
        ask = partial(self._list.asked, self._client)
        try:
            found = await self._list.known(partial(self._answer, server, LIST, ask))
        except ToolFailed as error:
            raise ServerFailed(server.label, f"does not tell its tools: {error.text}") from error
        return tuple(replace(tool, server=server) for tool in found)

    async def call(self, tool: ServerTool, arguments: Mapping[str, Any]) -> Any:
        """Call a tool once, and return its result; raises ToolFailed, and ServerDied.

        Arguments that cannot be written fail before they are sent: a failure then would end the session.
        """
        try:
            to_json({"params": {"arguments": arguments}})  # as deep as it is in the message
        except ValueError as error:
            text = f"cannot be sent its arguments: {error}"
            raise ToolFailed(tool.server.label, tool.own_name, text) from error
        ask = partial(self._client.call_tool, tool.own_name, dict(arguments))
        return await self._answer(tool.server, tool.own_name, ask)

    async def _answer(self, server: Server, what: str, ask: Callable[[], Awaitable[T]]) -> T:
        """Wait for an answer in its time, and as long as the server lives."""
        from mcp import MCPError  # loaded by now

        scope = anyio.CancelScope(deadline=anyio.current_time() + server.deadline)
        self._pending.add(scope)
        try:
            if self._death is None:
                with scope:
                    return await ask()
                if self._death is None:
                    text = f"has not answered within {server.deadline:g} s; the call was cancelled"
                    raise ToolFailed(server.label, what, text)
        except MCPError as error:
            if await self._is_alive(error):
                raise ToolFailed(server.label, what, f"has failed: {error}") from error
        except (RuntimeError, ValueError) as error:  # of the library, which has looked at the answer
            raise ToolFailed(server.label, what, f"has an answer that does not fit: {error}") from error
        finally:
            self._pending.discard(scope)
        again = "" if what is LIST else ", which is not called again"
        raise ServerDied(server.label, f"has died during {what!r}{again}: {self._told_end()}")

    async def _is_alive(self, error: Any) -> bool:
        """Tell whether an error is only that of a call; the end of a process may be known a little later."""
        from mcp_types import CONNECTION_CLOSED, INVALID_REQUEST

        if self._process is None:  # with the second code, it knows the session no more
            is_gone = error.code in (CONNECTION_CLOSED, INVALID_REQUEST)
        else:  # a server may have an error of its own with this code
            is_gone = error.code == CONNECTION_CLOSED and self._process.has_closed
        if is_gone:
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
        client = mcp.Client(typed, message_handler=self._list.noticed, cache=None)
        try:
            with anyio.CancelScope(deadline=until) as scope:
                async with client as self._client, anyio.create_task_group() as group:
                    scope.deadline = float("inf")
                    self.is_open = True
                    group.start_soon(self._list.listen, self._client)
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
            return ServerFailed(self.server.label, f"could not be started: {_reason(error, self._process)}")
        return ServerFailed(
            self.server.label, f"could not be reached at {self.server.address}: {_first(error)}"
        )


def _reason(error: Exception, process: ServerProcess) -> str:
    """Return why a server has not started: how its process has ended, and what else the library says."""
    from mcp_types import CONNECTION_CLOSED

    has_ended_by_itself = process.exit_code is not None and process.exit_code >= 0
    if has_ended_by_itself and getattr(_innermost(error), "code", None) == CONNECTION_CLOSED:
        return process.told()
    return f"{_first(error)}; {process.told()}"


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _first(error: BaseException) -> str:
    first = _innermost(error)
    text = " ".join(str(first).split())  # pydantic writes several lines
    return f"{type(first).__name__}: {text}".removesuffix(": ")


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
                    raise ServerFailed(server.label, f"{error.text} ({STARTS} starts)") from error
                await anyio.sleep(WAIT_SECONDS * start)
            else:
                yield found
                return


def _started(server: Server, until: float) -> AbstractAsyncContextManager[Connection]:
    if server.url:
        return Connection(server, None).open(until)
    environment = environment_of(server)
    marks = marks_of(server, environment)
    process = ServerProcess(server.label, server.command, environment, marks)
    return Connection(server, process).open(until)
