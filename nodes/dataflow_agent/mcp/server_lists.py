"""The list of a server's tools: asked for once in its session, and anew when it tells of a change (S10.6)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio

from dataflow_agent.mcp.server_schemas import schema_of
from dataflow_agent.mcp.servers import Server, ServerTool

__all__ = ["ToolList"]

LOG: Final = logging.getLogger("dataflow_agent.servers")


class ToolList:
    """The tools of a server, as far as they are known."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._asking = anyio.Lock()
        self._tools: tuple[ServerTool, ...] | None = None
        self._notices = 0  # of changes

    async def known(self, ask: Callable[[], Awaitable[tuple[ServerTool, ...]]]) -> tuple[ServerTool, ...]:
        """Return the tools; raises what asking for them raises, if they are not known."""
        async with self._asking:
            found = self._tools
            if found is None:
                before = self._notices
                found = await ask()
                if before == self._notices:
                    self._tools = found
        return found

    async def asked(self, client: Any) -> tuple[ServerTool, ...]:
        """Ask a client for the list, page after page."""
        found: list[ServerTool] = []
        cursor: str | None = None
        while True:
            page = await client.list_tools(cursor=cursor)
            found += (
                ServerTool(self._server, tool.name, tool.description or "", schema_of(tool.input_schema))
                for tool in page.tools
            )
            cursor = page.next_cursor
            if cursor is None:
                return tuple(found)

    async def noticed(self, message: Any) -> None:
        """Look at what a server of the older protocol tells by itself."""
        from mcp_types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._forget()

    async def listen(self, client: Any) -> None:
        """Hear of changes, from a server that tells them to those who ask for it."""
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
