"""The way to a tool server that is a process of ours: its standard input and output (S10.6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, TypeVar

import anyio

from dataflow_agent.mcp.process import ServerProcess
from dataflow_agent.mcp.server_errors import ServerFailed
from dataflow_agent.mcp.server_links import LinkLost, RequestFailed, innermost, told_first
from dataflow_agent.mcp.servers import Server, environment_of, marks_of

__all__ = ["Pipes"]

#: How long the end of a server may take to be known once the connection to it has broken.
END_SECONDS: Final = 1.5

T = TypeVar("T")


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
