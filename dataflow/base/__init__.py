"""Helpers that know nothing of flows: message wording, failures, copies, history, asyncio and trio."""

from __future__ import annotations
