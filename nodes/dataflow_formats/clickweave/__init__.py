"""Clickweave: workflows that automate a desktop by the tools of an MCP server, in JSON."""

from __future__ import annotations

__stored_as__ = "clickweave"
