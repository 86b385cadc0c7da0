"""Serialize values to JSON and back, and identify values and functions by content hash."""

from __future__ import annotations
