"""cagent: agents and a workflow of steps among them, in YAML."""

from __future__ import annotations

__stored_as__ = "cagent"
