"""The format of AgentFlow: workflows of AgentFlow, in JSON."""

from __future__ import annotations

__stored_as__ = "agentflow"
