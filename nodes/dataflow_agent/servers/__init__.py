"""Tool servers that speak the Model Context Protocol: processes, transports, sessions, results."""

from __future__ import annotations
