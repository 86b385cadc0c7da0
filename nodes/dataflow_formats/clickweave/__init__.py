"""Clickweave, a desktop automation tool whose workflows call the tools of an MCP server, saved as JSON.

Rooms: file -> conditions -> calls -> checks -> layout -> writer -> translation -> nodes -> trace, folders
(the words) -> listing.
"""

from __future__ import annotations

__stored_as__ = "clickweave"
