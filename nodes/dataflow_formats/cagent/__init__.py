"""cagent, a runtime for agents that YAML files define, with a `workflow` of steps among them.

Rooms: file -> reader -> order -> conditions -> writer -> translation -> nodes -> words -> listing.
"""

from __future__ import annotations

__stored_as__ = "cagent"
