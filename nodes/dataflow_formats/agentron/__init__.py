"""The format of Agentron Studio: workflows of Agentron Studio, in JSON."""

from __future__ import annotations

from lazy_loader import attach as _attach

#: What documents name.
__getattr__, __dir__, __all__ = _attach(__name__, submod_attrs={"nodes": ["request_user_help"]})

__stored_as__ = "agentron"
