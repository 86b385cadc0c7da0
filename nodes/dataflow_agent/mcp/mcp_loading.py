"""Loading the MCP library: once, on first use, in a thread."""

from __future__ import annotations

import threading
from typing import Any, Final

from anyio import to_thread

from dataflow_agent.mcp.server_errors import ServerFailed

__all__ = ["load", "loaded"]

MISSING: Final = "is called through mcp, which is not there: pip install 'dataflow-engine[agent]'"

_loading: Final = threading.Lock()  # of two servers that start at once the first loads it
_loaded: Final[list[Any]] = []


async def loaded(server: str) -> Any:
    """Return mcp, which takes half a second for the first time; raises ServerFailed where it lacks."""
    if not _loaded:
        await to_thread.run_sync(load, server, abandon_on_cancel=True)
    return _loaded[0]


def load(server: str) -> Any:
    """Import mcp, unless that has been done; raises ServerFailed where it lacks."""
    with _loading:
        if not _loaded:
            try:
                import mcp
                import mcp.client.stdio
                import mcp.client.streamable_http
                import mcp.client.subscriptions
            except ImportError as error:
                raise ServerFailed(server, f"{MISSING} ({error})", is_lasting=True) from error
            _loaded.append(mcp)
        return _loaded[0]
