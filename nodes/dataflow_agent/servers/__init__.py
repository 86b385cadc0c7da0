"""Clients of tool servers that speak MCP, the Model Context Protocol."""

from __future__ import annotations
