"""File formats of other systems, each a pack with the node types that its flows need."""

from __future__ import annotations
