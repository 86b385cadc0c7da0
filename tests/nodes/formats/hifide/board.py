"""Functions that stand for the tools of an application and of a plugin."""

from __future__ import annotations


async def kanbanGetBoard() -> str:  # noqa: N802 - as the application calls it
    """Tell what is on the board."""
    return "nothing"


async def mcp_x_y() -> str:
    """Do what a plugin does."""
    return "done"
