"""The Python API that builds flows: steps, blocks, node declarations, built-in node types."""

from __future__ import annotations
