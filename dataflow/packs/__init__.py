"""Packs of node types: their definition, their discovery by entry point, the lookup of a type by its id."""

from __future__ import annotations
