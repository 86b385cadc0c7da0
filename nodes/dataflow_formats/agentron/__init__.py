"""Agentron Studio: workflows of agents that take turns, in JSON."""

from __future__ import annotations

from lazy_loader import attach as _attach

#: The functions that documents name.
__getattr__, __dir__, __all__ = _attach(__name__, submod_attrs={"nodes": ["request_user_help"]})

__stored_as__ = "agentron"
