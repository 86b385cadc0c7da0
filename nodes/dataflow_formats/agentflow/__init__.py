"""AgentFlow, a web editor for workflows of agents, conditions and approvals, saved as JSON.

Rooms: file -> order -> subagents -> writer -> translation -> nodes -> words -> listing.
"""

from __future__ import annotations

__stored_as__ = "agentflow"
