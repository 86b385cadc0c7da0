"""Connections to tool servers: opened on first use and shared by the firings of an execution session."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar, assert_never

import anyio
from anyio import to_thread
from pydantic_core import to_json

from dataflow import SecretFilter
from dataflow_agent.diagnostics.models import LIBRARY_MISSING
from dataflow_agent.diagnostics.servers import LIST_ENDLESS, SERVER_DIED
from dataflow_agent.diagnostics.tools import (
    ARGUMENTS_NOT_JSON,
    CALL_FAILED,
    CALL_TIMED_OUT,
    RESULT_INVALID,
)
from dataflow_agent.servers.results import ServerDied, ServerFailed, ToolFailed, reading_schemas, schema_of
from dataflow_agent.servers.server import Server, ServerTool
from dataflow_agent.servers.transports import (
    Http,
    Link,
    LinkLost,
    Pipes,
    RequestFailed,
    SessionUnusable,
    cause_of,
    first_error_text,
)

__all__ = ["Connection", "ToolList", "connected", "load", "loaded"]

#: How often a server is started that ends before its first answer, and the wait before another start.
STARTS: Final = 3
WAIT_SECONDS: Final = 0.1
LIST: Final = "the list of its tools"
#: The most pages of a list that are read, and the most tools.
MOST_PAGES: Final = 1_000
MOST_TOOLS: Final = 10_000
T = TypeVar("T")
LOG: Final = logging.getLogger("dataflow.agent.servers")
LOG.addFilter(SecretFilter())
_loading: Final = threading.Lock()  # of two concurrent starts the first imports it
_loaded: Final[list[Any]] = []


@dataclass(frozen=True, slots=True)
class _Alive:
    """The connection is usable: the client, and the cancel scopes of pending requests."""

    client: Any
    pending: set[anyio.CancelScope] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Dead:
    """The connection has ended; the cause is the message of the library, if any."""

    error: ServerFailed
    cause: str = ""


_State: TypeAlias = _Alive | _Dead


class Connection:
    """A session with a server, owned by one task and used by any number of tasks.

    A caller passes its own description of the server, whose name and deadlines may differ.
    """

    def __init__(self, server: Server, link: Link, tools: ToolList, client: Any) -> None:
        self.ended = anyio.Event()  # and everything is closed
        self._server = server
        self._link = link
        self._list = tools
        self._state: _State = _Alive(client)
        self._died = anyio.Event()

    @property
    def is_usable(self) -> bool:
        """Whether requests can be sent."""
        return isinstance(self._state, _Alive)

    @property
    def death(self) -> ServerFailed | None:
        """The error that has ended the session, if it has ended."""
        return self._state.error if isinstance(self._state, _Dead) else None

    async def tools(self, server: Server) -> tuple[ServerTool, ...]:
        """Return the tools of the server under a description of it; raises ServerFailed."""
        hurried = replace(server, deadline=min(server.deadline, server.connect_deadline))
        try:
            found = await self._list.known(partial(self._answer, hurried, LIST, self._list.asked))
        except ToolFailed as error:
            raise ServerFailed(server.label, error.problem.within(LIST)) from error
        return tuple(replace(tool, server=server) for tool in found)

    async def call(self, tool: ServerTool, arguments: Mapping[str, Any]) -> Any:
        """Call a tool once, and return its result; raises ToolFailed, ServerDied, and ServerFailed.

        Arguments that cannot be serialized are refused before sending, as a later failure would end the
        session.
        """
        try:
            to_json({"params": {"arguments": arguments}})  # nested as deep as in the message
        except ValueError as error:
            raise ToolFailed(tool.server.label, tool.own_name, ARGUMENTS_NOT_JSON(error=error)) from error

        def ask(client: Any) -> Awaitable[Any]:
            called: Awaitable[Any] = client.call_tool(tool.own_name, dict(arguments))
            return called

        return await self._answer(tool.server, tool.own_name, ask)

    async def _answer(self, server: Server, what: str, ask: Callable[[Any], Awaitable[T]]) -> T:
        """Wait for an answer until the deadline or the end of the server."""
        match self._state:
            case _Alive() as alive:
                return await self._waited(alive, server, what, partial(ask, alive.client))
            case _Dead() as dead:
                raise self._died_during(dead, server, what)
            case _:
                assert_never(self._state)

    async def _waited(self, alive: _Alive, server: Server, what: str, ask: Callable[[], Awaitable[T]]) -> T:
        problem = CALL_TIMED_OUT(seconds=f"{server.deadline:g}")
        cause: Exception | None = None
        scope = anyio.CancelScope(deadline=anyio.current_time() + server.deadline)
        alive.pending.add(scope)
        try:
            with scope:
                return await self._link.asked(ask)
        except LinkLost as lost:
            self.die(str(lost))
        except SessionUnusable as error:
            failed = ServerFailed(server.label, error.problem, is_lasting=True)
            self._end(_Dead(failed, error.problem.text))
            raise failed from cause_of(error)
        except RequestFailed as error:
            problem, cause = CALL_FAILED(error=error), error
        except (RuntimeError, ValueError) as error:  # the library has refused the answer
            problem, cause = RESULT_INVALID(error=error), error
        finally:
            alive.pending.discard(scope)
        if isinstance(self._state, _Dead):
            raise self._died_during(self._state, server, what) from cause_of(cause)
        raise ToolFailed(server.label, what, problem) from cause_of(cause)

    def _died_during(self, dead: _Dead, server: Server, what: str) -> ServerDied:
        again = "" if what is LIST else ", which is not called again"
        end = self._link.describe_end(dead.cause)
        return ServerDied(server.label, SERVER_DIED(during=f" during {what!r}{again}", error=end))

    def die(self, cause: str = "") -> None:
        """Mark the connection as ended, unless it is."""
        problem = SERVER_DIED(during="", error=self._link.describe_end(cause))
        self._end(_Dead(ServerDied(self._server.label, problem), cause))

    def _end(self, dead: _Dead) -> None:
        """End once: cancel pending requests and wake the owner."""
        match self._state:
            case _Alive() as alive:
                self._state = dead
                self._died.set()
                for scope in alive.pending:
                    scope.cancel()
            case _Dead():
                pass
            case _:
                assert_never(self._state)

    async def watch(self) -> None:
        """Wait for the end of the session and raise its error."""
        await self._died.wait()
        assert isinstance(self._state, _Dead)
        raise self._state.error

    async def follow(self) -> None:
        """End the connection when the server ends."""
        await self._link.ended.wait()
        self.die()


@asynccontextmanager
async def _session(server: Server, link: Link, until: float) -> AsyncIterator[Connection]:
    """Keep a session open during the block; raises ServerFailed, and ServerDied if the server ends first."""
    mcp = await loaded(server.label)
    tools = ToolList(server)
    client = mcp.Client(reading_schemas(link.streams()), message_handler=tools.noticed, cache=None)
    connection: Connection | None = None
    try:
        with anyio.CancelScope(deadline=until) as scope:
            async with client as opened, anyio.create_task_group() as group:
                scope.deadline = float("inf")
                connection = Connection(server, link, tools, opened)
                for task in (partial(tools.listen, opened), connection.watch, connection.follow):
                    group.start_soon(task)
                try:
                    yield connection
                finally:
                    group.cancel_scope.cancel()
    except Exception as error:  # noqa: BLE001 - the library raises any error, in groups
        if connection is not None:
            connection.die(first_error_text(error))
        raised = _error_for(error, connection) or link.not_started(error, server.connect_deadline)
        is_its_own = connection is not None and raised is connection.death
        raise raised from (None if is_its_own else cause_of(error))
    finally:
        if connection is not None:
            connection.die()
            connection.ended.set()
    if connection is None:
        raise link.not_started(None, server.connect_deadline)


def _error_for(error: Exception, connection: Connection | None) -> ServerFailed | None:
    """Return the error of ours for an error of the library; None if the session has not started."""
    own, _ = error.split(ServerFailed) if isinstance(error, ExceptionGroup) else (error, None)
    while isinstance(own, ExceptionGroup):
        own = own.exceptions[0]
    if isinstance(own, ServerFailed):
        return own
    return None if connection is None else connection.death


@asynccontextmanager
async def connected(server: Server) -> AsyncIterator[Connection]:
    """Connect to a server during the block; one that ends immediately is started up to three times.

    Raises ServerFailed, and SecretMissing for a variable or a header without a value.
    """
    until = anyio.current_time() + server.connect_deadline
    async with AsyncExitStack() as stack:
        for start in range(1, STARTS + 1):
            link: Link = Http(server) if server.url else Pipes(server)
            try:
                found = await stack.enter_async_context(_session(server, link, until))
            except ServerFailed as error:
                if error.is_lasting or start == STARTS:
                    raise
                await anyio.sleep(WAIT_SECONDS * start)
            else:
                yield found
                return


class ToolList:
    """The cached list of the tools of a server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._asking = anyio.Lock()
        self._tools: tuple[ServerTool, ...] | None = None
        self._notices = 0  # of changes of the list

    async def known(self, ask: Callable[[], Awaitable[tuple[ServerTool, ...]]]) -> tuple[ServerTool, ...]:
        """Return the tools, from the cache or by `ask`; raises what `ask` raises."""
        async with self._asking:
            found = self._tools
            if found is None:
                before = self._notices
                found = await ask()
                if before == self._notices:
                    self._tools = found
        return found

    async def asked(self, client: Any) -> tuple[ServerTool, ...]:
        """Request the list, page by page; raises ServerFailed for a list that does not end."""
        found: list[ServerTool] = []
        cursors: dict[str | None, None] = {}  # those of the pages so far
        cursor: str | None = None
        while cursor not in cursors:
            cursors[cursor] = None
            page = await client.list_tools(cursor=cursor)
            found += (
                ServerTool(self._server, tool.name, tool.description or "", schema_of(tool.input_schema))
                for tool in page.tools
            )
            cursor = page.next_cursor
            if cursor is None:
                return tuple(found)
            if len(cursors) >= MOST_PAGES or len(found) > MOST_TOOLS:
                raise self._endless(f"it has more than {MOST_PAGES:,} pages or {MOST_TOOLS:,} tools")
        raise self._endless(f"page {len(cursors)} continues with an earlier one")

    def _endless(self, error: str) -> ServerFailed:
        problem = LIST_ENDLESS(error=error).within(LIST)
        return ServerFailed(self._server.label, problem, is_lasting=True)

    async def noticed(self, message: Any) -> None:
        """Handle a notification of a server of the older protocol."""
        from mcp_types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._forget()

    async def listen(self, client: Any) -> None:
        """Subscribe to changes, at a server of the newer protocol."""
        from mcp import MCPError
        from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost

        try:
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._forget()
        except (ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError) as error:
            LOG.debug("tool server %r tells of no changes: %s", self._server.label, error)

    def _forget(self) -> None:
        self._notices += 1
        self._tools = None


async def loaded(server: str) -> Any:
    """Return mcp, imported in a thread on first use; raises ServerFailed if it is not installed."""
    if not _loaded:
        await to_thread.run_sync(load, server, abandon_on_cancel=True)
    return _loaded[0]


def load(server: str) -> Any:
    """Import mcp on first use; raises ServerFailed if it is not installed."""
    with _loading:
        if not _loaded:
            try:
                import mcp
                import mcp.client.stdio
                import mcp.client.streamable_http
                import mcp.client.subscriptions
            except ImportError as error:
                problem = LIBRARY_MISSING(library="mcp", error=error)
                raise ServerFailed(server, problem, is_lasting=True) from error
            _loaded.append(mcp)
        return _loaded[0]
