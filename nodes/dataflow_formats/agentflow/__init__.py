"""AgentFlow: workflows of agents, conditions and approvals, in JSON."""

from __future__ import annotations

__stored_as__ = "agentflow"
