"""The scheduler decides which node may fire next; it is synchronous and does no input or output."""

from __future__ import annotations
