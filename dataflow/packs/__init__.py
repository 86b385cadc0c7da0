"""Packs of node types: definition, discovery by entry point, and lookup of a node type by its id."""

from __future__ import annotations
