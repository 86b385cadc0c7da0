"""The format of Clickweave: workflows of Clickweave, in JSON."""

from __future__ import annotations

__stored_as__ = "clickweave"
