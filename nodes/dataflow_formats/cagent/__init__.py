"""The format of cagent: the `workflow` of agent files of cagent, in YAML."""

from __future__ import annotations

__stored_as__ = "cagent"
