"""The kinds of problems of the pack: of chats and agents, models, tools, and tool servers."""

from __future__ import annotations
