"""HiFide: flows of chats that share conversations, in JSON."""

from __future__ import annotations

__stored_as__ = "hifide"
