"""The node types that only flows of AgentFlow need."""

from __future__ import annotations

from typing import Final

from dataflow.packs import Pack

__all__ = ["pack"]

#: Found by entry point.
pack: Final = Pack("agentflow", version="1", api=1, nodes={})
