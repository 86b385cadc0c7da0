"""Transports to tool servers: HTTP, and the pipes of a process."""

from __future__ import annotations

import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any, Final, Protocol, TypeVar

import anyio

from dataflow.authoring import shortened
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
    "RequestUnauthorized",
    "cause_of",
    "innermost",
    "told_first",
]

T = TypeVar("T")
#: How long, in seconds, a request may take to be sent, and then be silent: as long as the library allows.
SEND_SECONDS: Final = 30.0
SILENT_SECONDS: Final = 300.0
REFUSALS: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
#: How long the end of a server may take to be known once the connection to it has broken.
END_SECONDS: Final = 1.5


class LinkLost(Exception):
    """Raised for a request whose answer cannot come any more; the session is of no further use."""


class RequestFailed(Exception):
    """Raised for a request that was answered with an error, which is of that request alone."""


class RequestUnauthorized(Exception):
    """Raised for a request from somebody whom the server does not know, or no more."""


class Link(Protocol):
    """A way to one server, for one session.

    `ended` is set when the server is known to have ended by itself.
    """

    @property
    def ended(self) -> anyio.Event: ...

    def streams(self) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        """Exchange messages while the block runs."""

    async def asked(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Send a request; raises one of the errors of this module in place of the library's."""

    def told_end(self, cause: str) -> str:
        """Tell how the server has ended, or the connection to it; the cause is what the library says."""

    def not_started(self, error: Exception | None, seconds: float) -> ServerFailed:
        """Tell why there is no session, by what the library has raised; None if the seconds are over."""


def innermost(error: BaseException) -> BaseException:
    """Return the first of the errors in a group of groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def told_first(error: BaseException) -> str:
    """Tell the first error on one line, with its class."""
    first = innermost(error)
    text = " ".join(str(first).split())  # pydantic writes several lines
    return f"{type(first).__name__}: {text}".removesuffix(": ")


def cause_of(error: Exception | None) -> Exception | None:
    """Return an error as the cause of what is told of it; None for one that shows a secret (S12.4).

    What a library raises quotes the server, which may say what it was sent.
    """
    if error is None:
        return None
    text = "".join(traceback.format_exception(error))
    return error if shortened(text, len(text)) == text else None


@dataclass(slots=True)
class _Exchange:
    """What has become of a request, of which the library tells only an error.

    status: that of the answer, None before there is one
    has_session: whether it was of a session that the server knows by an id
    is_cut: whether the answer has ended before it was whole
    """

    status: int | None = None
    has_session: bool = False
    is_cut: bool = False

    @property
    def told_status(self) -> str:
        """The status, with its name."""
        if self.status is None:
            return ""
        phrases = {int(known): known.phrase for known in HTTPStatus}
        return f"{self.status} {phrases.get(self.status, '')}".rstrip()


#: The request that is being sent; the library sends each in the context of whoever asks.
_EXCHANGE: Final[ContextVar[_Exchange | None]] = ContextVar("request to a tool server", default=None)


class Http:
    """A link to an address; raises SecretMissing for a header without a value."""

    def __init__(self, server: Server) -> None:
        self.ended = anyio.Event()  # of the server, which nobody tells
        self._server = server
        self._headers = revealed(server.headers, server.label)
        self._first = _Exchange()  # the last one before there is a session

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Any, Any]]:
        """Exchange messages; the requests of the block are those that begin the session."""
        import httpx2  # loaded by now
        from mcp.client.streamable_http import streamable_http_client

        timeout = httpx2.Timeout(SEND_SECONDS, read=SILENT_SECONDS)
        url = self._server.url
        hooks: dict[str, list[Callable[..., Any]]] = {"request": [make_query_hook(url)], "response": [_note]}
        token = _EXCHANGE.set(self._first)
        try:
            async with (
                httpx2.AsyncClient(headers=self._headers, timeout=timeout, event_hooks=hooks) as client,
                streamable_http_client(without_query(url), http_client=client) as streams,
            ):
                yield streams
        finally:
            _EXCHANGE.reset(token)

    async def asked(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Send a request; raises RequestFailed, RequestUnauthorized and LinkLost."""
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
        """Tell what the error of a request means: the library has one class and few codes for all of them."""
        if exchange.status == HTTPStatus.UNAUTHORIZED:
            return RequestUnauthorized(self._refusal(exchange))
        if _is_lost(error.code, exchange):
            return LinkLost(str(error))
        if exchange.status is not None and exchange.status >= HTTPStatus.BAD_REQUEST:
            return RequestFailed(f"{exchange.told_status}: {error}")
        return RequestFailed(str(error))

    def told_end(self, cause: str) -> str:
        """Tell that the connection was lost, which is all that is known."""
        return ": ".join(filter(None, ("the connection was lost", cause)))

    def not_started(self, error: Exception | None, seconds: float) -> ServerFailed:
        """Tell that the server is not there, or does not let us in."""
        if error is None:
            return ServerFailed(self._server.label, f"has not answered within {seconds:g} s", is_lasting=True)
        if self._first.status in REFUSALS:
            return ServerFailed(self._server.label, self._refusal(self._first), is_lasting=True)
        text = f"could not be reached at {self._server.address}: {told_first(error)}"
        return ServerFailed(self._server.label, text)

    def _refusal(self, exchange: _Exchange) -> str:
        names = ", ".join(self._headers) or "none"
        return (
            f"answers {exchange.told_status} at {self._server.address}; the headers that it was sent: {names}"
        )


def _is_lost(code: int, exchange: _Exchange) -> bool:
    """Tell whether the connection is lost, or the server knows the session no more.

    A server may have an error of its own with any of these codes; then its answer has come whole. Those that
    have forgotten a session answer 404, as they should, or 400.
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


async def _note(response: Any) -> None:
    """Note what an answer to a request begins with, and watch how it ends."""
    exchange = _EXCHANGE.get()
    if exchange is None:
        return
    request = response.request
    if request.method == "POST":
        exchange.status = response.status_code
        exchange.has_session = "mcp-session-id" in request.headers
    elif "last-event-id" not in request.headers or response.status_code != HTTPStatus.OK:
        return  # it does not go on with an answer that has broken off
    exchange.is_cut = False
    is_of_events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
    response.stream = _watched()(response.stream, exchange, is_of_events=is_of_events)


@cache
def _watched() -> Any:
    """Make the class of bodies that note when they end too early; its base is in the library."""
    import httpx2  # loaded by now

    class Watched(httpx2.AsyncByteStream):
        """A stream of events is left once the answer was in it, so one that is read to its end had none."""

        def __init__(self, stream: Any, exchange: _Exchange, *, is_of_events: bool) -> None:
            self._stream = stream
            self._chunks = aiter(stream)
            self._exchange = exchange
            self._is_of_events = is_of_events

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
            return chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    return Watched


class Pipes:
    """A link to a process, which is started with it; raises SecretMissing for a variable without a value."""

    def __init__(self, server: Server) -> None:
        environment = environment_of(server)
        self._label = server.label
        self._process = ServerProcess(
            server.label, server.command, environment, marks_of(server, environment)
        )

    @property
    def ended(self) -> anyio.Event:
        """Is set when the process has ended."""
        return self._process.ended

    def streams(self) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        """Start the process; at the end of the block nothing is left of it."""
        return self._process.streams()

    async def asked(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Send a request; raises RequestFailed, and LinkLost once it is known how the process has ended."""
        from mcp import MCPError  # loaded by now
        from mcp_types import CONNECTION_CLOSED

        try:
            return await ask()
        except MCPError as error:
            # A server may have an error of its own with this code.
            if error.code != CONNECTION_CLOSED or not self._process.has_closed:
                raise RequestFailed(str(error)) from error
            with anyio.move_on_after(END_SECONDS):
                await self._process.ended.wait()
            raise LinkLost(str(error)) from error

    def told_end(self, cause: str) -> str:  # noqa: ARG002 - the process says more
        """Tell how the process has ended, with its last lines."""
        return self._process.told()

    def not_started(self, error: Exception | None, seconds: float) -> ServerFailed:
        """Tell how the process has ended, and what else the library says; or its last lines."""
        if error is None:
            text = f"has not answered within {seconds:g} s"
            told = "; ".join(filter(None, (text, self._process.last_words)))
            return ServerFailed(self._label, told, is_lasting=True)
        return ServerFailed(self._label, f"could not be started: {self._reason(error)}")

    def _reason(self, error: Exception) -> str:
        from mcp_types import CONNECTION_CLOSED

        code = self._process.exit_code
        has_ended_by_itself = code is not None and code >= 0
        if has_ended_by_itself and getattr(innermost(error), "code", None) == CONNECTION_CLOSED:
            return self._process.told()
        return f"{told_first(error)}; {self._process.told()}"
