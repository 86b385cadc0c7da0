"""The node types that only flows of Agentron Studio need."""

from __future__ import annotations

from typing import Final

from dataflow.packs import Pack

__all__ = ["pack"]

#: Found by entry point.
pack: Final = Pack("agentron", version="1", api=1, nodes={})
