"""The Python API that states a flow: steps, blocks, node declarations, built-in node types."""

from __future__ import annotations
