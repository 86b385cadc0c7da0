"""Transports to tool servers: HTTP, and the pipes of a process."""

from __future__ import annotations

import re
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from http import HTTPStatus
from typing import Any, Final, Protocol, TypeVar

import anyio

from dataflow import Diagnostic
from dataflow.authoring import shortened
from dataflow_agent.diagnostics.servers import (
    ANSWER_COMPRESSED,
    MESSAGE_TOO_LONG,
    SERVER_NOT_STARTED,
    SERVER_REFUSES,
    SERVER_TIMED_OUT,
    SERVER_UNREACHABLE,
)
from dataflow_agent.servers.process import ServerProcess
from dataflow_agent.servers.results import ServerFailed
from dataflow_agent.servers.server import (
    Server,
    environment_of,
    make_query_hook,
    marks_of,
    revealed,
    without_query,
)

__all__ = [
    "Http",
    "Link",
    "LinkLost",
    "Pipes",
    "RequestFailed",
    "SessionUnusable",
    "cause_of",
    "first_error_text",
    "innermost",
]

T = TypeVar("T")
#: How long, in seconds, a request may take to be sent, and then be silent: as long as the library allows.
SEND_SECONDS: Final = 30.0
SILENT_SECONDS: Final = 300.0
REFUSALS: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
#: How long the end of a server may take to be known once the connection to it has broken.
END_SECONDS: Final = 1.5


class LinkLost(Exception):
    """Raised for a request whose answer was lost with the connection; the session has ended."""


class RequestFailed(Exception):
    """Raised for a request that was answered with an error; the session remains usable."""


class SessionUnusable(Exception):
    """Raised for a request after which the session ends: it was refused, or its answer is not read.

    The credentials of a session may expire, and a server may send more than is read into memory.
    """

    def __init__(self, problem: Diagnostic) -> None:
        self.problem = problem
        super().__init__(problem.text)


class Link(Protocol):
    """A transport to one server for one session.

    `ended` is set when the server is known to have ended by itself.
    """

    @property
    def ended(self) -> anyio.Event: ...

    def streams(self) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        """Exchange messages during the block."""

    async def asked(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Send a request; raises an error of this module in place of the library's."""

    def describe_end(self, cause: str) -> str:
        """Describe how the server or the connection has ended; the cause is the message of the library."""

    def not_started(self, error: Exception | None, seconds: float) -> ServerFailed:
        """Return the error for a session that has not started: for an error, or None for a timeout."""


def innermost(error: BaseException) -> BaseException:
    """Return the first of the errors in a group of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def first_error_text(error: BaseException) -> str:
    """Return the first error on one line, with its class."""
    first = innermost(error)
    text = " ".join(str(first).split())  # pydantic writes several lines
    return f"{type(first).__name__}: {text}".removesuffix(": ")


def cause_of(error: Exception | None) -> Exception | None:
    """Return an error as the cause of another; None for one that shows a secret (S12.4).

    An error of the library quotes the server, which may repeat what it was sent.
    """
    if error is None:
        return None
    text = "".join(traceback.format_exception(error))
    return error if shortened(text, len(text)) == text else None


@dataclass(slots=True)
class _Exchange:
    """The HTTP exchange of a request, for which the library reports only an error.

    status: the status of the answer, None before it arrives
    has_session: whether the request had the id of a session
    is_cut: whether the answer has ended before it was complete
    problem: why the answer was not read to its end, if the client has stopped reading
    """

    status: int | None = None
    has_session: bool = False
    is_cut: bool = False
    problem: Diagnostic | None = None

    @property
    def status_text(self) -> str:
        """The status, with its name."""
        if self.status is None:
            return ""
        phrases = {int(known): known.phrase for known in HTTPStatus}
        return f"{self.status} {phrases.get(self.status, '')}".rstrip()


_ENDS_EVENT: Final = re.compile(rb"\r\n\r\n|\n\n|\r\r")
#: The request that is being sent; the library sends each in the context of its caller.
_EXCHANGE: Final[ContextVar[_Exchange | None]] = ContextVar("request to a tool server", default=None)


class Http:
    """A transport over HTTP; raises SecretMissing for a header without a value."""

    def __init__(self, server: Server) -> None:
        self.ended = anyio.Event()  # never set: a remote server does not report its end
        self._server = server
        self._headers = revealed(server.headers, server.label)
        self._first = _Exchange()  # the last exchange before the session begins

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Any, Any]]:
        """Exchange messages; the first requests begin the session."""
        import httpx2  # loaded by now
        from mcp.client.streamable_http import streamable_http_client

        timeout = httpx2.Timeout(SEND_SECONDS, read=SILENT_SECONDS)
        url = self._server.url
        # Of a compressed answer only the compressed size is known before it is in memory.
        headers = {**self._headers, "accept-encoding": "identity"}
        hooks: dict[str, list[Callable[..., Any]]] = {
            "request": [make_query_hook(url)],
            "response": [partial(_note, self._server.max_message)],
        }
        token = _EXCHANGE.set(self._first)
        try:
            async with (
                httpx2.AsyncClient(headers=headers, timeout=timeout, event_hooks=hooks) as client,
                streamable_http_client(
                    without_query(url),
                    http_client=client,
                    max_sse_event_size=None,  # bounded by what reads the body
                ) as streams,
            ):
                yield streams
        finally:
            _EXCHANGE.reset(token)

    async def asked(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Send a request; raises RequestFailed, SessionUnusable and LinkLost."""
        from mcp import MCPError  # loaded by now

        exchange = _Exchange()
        token = _EXCHANGE.set(exchange)
        try:
            return await ask()
        except MCPError as error:
            raise self._meaning(error, exchange) from error
        finally:
            _EXCHANGE.reset(token)

    def _meaning(self, error: Any, exchange: _Exchange) -> Exception:
        """Return the error of ours for an error of the library, which has one class and few codes."""
        if exchange.problem is not None:
            return SessionUnusable(exchange.problem)
        if exchange.status == HTTPStatus.UNAUTHORIZED:
            return SessionUnusable(self._refusal(exchange))
        if _is_lost(error.code, exchange):
            return LinkLost(str(error))
        if exchange.status is not None and exchange.status >= HTTPStatus.BAD_REQUEST:
            return RequestFailed(f"{exchange.status_text}: {error}")
        return RequestFailed(str(error))

    def describe_end(self, cause: str) -> str:
        """Describe the loss of the connection."""
        return ": ".join(filter(None, ("the connection was lost", cause)))

    def not_started(self, error: Exception | None, seconds: float) -> ServerFailed:
        """Return the error for a server that cannot be reached, or refuses access."""
        if error is None:
            problem = SERVER_TIMED_OUT(seconds=f"{seconds:g}", output="")
            return ServerFailed(self._server.label, problem, is_lasting=True)
        refused = self._refusal(self._first) if self._first.status in REFUSALS else self._first.problem
        if refused is not None:
            return ServerFailed(self._server.label, refused, is_lasting=True)
        problem = SERVER_UNREACHABLE(address=self._server.address, error=first_error_text(error))
        return ServerFailed(self._server.label, problem)

    def _refusal(self, exchange: _Exchange) -> Diagnostic:
        return SERVER_REFUSES(
            status=exchange.status_text,
            address=self._server.address,
            headers=", ".join(self._headers) or "none",
        )


def _is_lost(code: int, exchange: _Exchange) -> bool:
    """Return whether the connection is lost, or the server has dropped the session.

    A server may answer with an error that has one of these codes; then its answer is complete. A server that
    has dropped a session answers 404, as the protocol says, or 400.
    """
    from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST

    if code == CONNECTION_CLOSED and (exchange.status is None or exchange.is_cut):
        return True
    if not exchange.has_session:
        return False
    is_unknown = code in (CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST)
    return exchange.status == HTTPStatus.NOT_FOUND or (
        exchange.status == HTTPStatus.BAD_REQUEST and is_unknown
    )


async def _note(most: int, response: Any) -> None:
    """Record the status of an answer, and watch the size of its body, and how it ends."""
    exchange, request = _EXCHANGE.get() or _Exchange(), response.request
    if request.method == "POST":
        exchange.status = response.status_code
        exchange.has_session = "mcp-session-id" in request.headers
    elif "last-event-id" not in request.headers or response.status_code != HTTPStatus.OK:
        exchange = _Exchange()  # it does not resume a broken answer
    exchange.is_cut = False
    if response.headers.get("content-encoding", "identity") != "identity":
        exchange.problem = ANSWER_COMPRESSED(found=response.headers["content-encoding"])
    is_of_events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
    response.stream = _watched()(response.stream, exchange, most, is_of_events=is_of_events)


@cache
def _watched() -> Any:
    """Create the class of bodies that are bounded and record an early end; its base is in the library."""
    import httpx2  # loaded by now

    class Watched(httpx2.AsyncByteStream):
        """A response body of limited size.

        The client stops reading a stream of events at the answer, so a stream that ends before that is cut.
        Raises an error of the library for a compressed body, and for a body or event that is too long.
        """

        def __init__(self, stream: Any, exchange: _Exchange, most: int, *, is_of_events: bool) -> None:
            self._stream = stream
            self._chunks = aiter(stream)
            self._exchange = exchange
            self._most = most  # bytes of a body, or of an event
            self._is_of_events = is_of_events
            self._size = 0  # of the body, or of the event that has not ended
            self._tail = b""  # may have the first part of the end of an event

        def __aiter__(self) -> Any:
            return self

        async def __anext__(self) -> bytes:
            try:
                chunk: bytes = await anext(self._chunks)
            except StopAsyncIteration:
                self._exchange.is_cut = self._is_of_events
                raise
            except BaseException:
                self._exchange.is_cut = True
                raise
            self._measure(chunk)
            if self._exchange.problem is not None:
                # The library handles one class for a stream of events, another for other bodies.
                refused = httpx2.SSEError if self._is_of_events else httpx2.StreamError
                raise refused(self._exchange.problem.text)
            return chunk

        def _measure(self, chunk: bytes) -> None:
            events = _ENDS_EVENT.split(self._tail + chunk) if self._is_of_events else [chunk]
            sizes = [self._size + len(events[0]) - len(self._tail), *map(len, events[1:])]
            self._size, self._tail = sizes[-1], chunk[-3:] if self._is_of_events else b""
            if max(sizes) > self._most:
                self._exchange.problem = MESSAGE_TOO_LONG(most=self._most)

        async def aclose(self) -> None:
            await self._stream.aclose()

    return Watched


class Pipes:
    """A transport over the pipes of a process; raises SecretMissing for a variable without a value."""

    def __init__(self, server: Server) -> None:
        environment = environment_of(server)
        self._label = server.label
        self._process = ServerProcess(
            server.label, server.command, environment, marks_of(server, environment), server.max_message
        )

    @property
    def ended(self) -> anyio.Event:
        """Set when the process has ended."""
        return self._process.ended

    def streams(self) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        """Start the process; it has ended at the end of the block."""
        return self._process.streams()

    async def asked(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Send a request; raises RequestFailed, and LinkLost once the end of the process is known."""
        from mcp import MCPError  # loaded by now
        from mcp_types import CONNECTION_CLOSED

        try:
            return await ask()
        except MCPError as error:
            # A server may answer with an error that has this code.
            if error.code != CONNECTION_CLOSED or not self._process.has_closed:
                raise RequestFailed(str(error)) from error
            with anyio.move_on_after(END_SECONDS):
                await self._process.ended.wait()
            raise LinkLost(str(error)) from error

    def describe_end(self, cause: str) -> str:  # noqa: ARG002 - the process says more
        """Describe how the process has ended, with its last lines."""
        return self._process.describe_end()

    def not_started(self, error: Exception | None, seconds: float) -> ServerFailed:
        """Return the error with the end of the process and the message of the library; or its last lines."""
        if error is None:
            output = f"; {self._process.last_words}".removesuffix("; ")
            problem = SERVER_TIMED_OUT(seconds=f"{seconds:g}", output=output)
            return ServerFailed(self._label, problem, is_lasting=True)
        return ServerFailed(self._label, SERVER_NOT_STARTED(error=self._reason(error)))

    def _reason(self, error: Exception) -> str:
        from mcp_types import CONNECTION_CLOSED

        code = self._process.exit_code
        has_ended_by_itself = code is not None and code >= 0
        if has_ended_by_itself and getattr(innermost(error), "code", None) == CONNECTION_CLOSED:
            return self._process.describe_end()
        return f"{first_error_text(error)}; {self._process.describe_end()}"
