"""What sessions with tool servers run over, and what is known when a request comes to nothing (S10.6)."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

import anyio

from dataflow.authoring import shortened
from dataflow_agent.mcp.server_errors import ServerFailed

__all__ = ["Link", "LinkLost", "RequestFailed", "RequestUnauthorized", "cause_of", "innermost", "told_first"]

T = TypeVar("T")


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
