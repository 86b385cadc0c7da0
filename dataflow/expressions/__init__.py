"""Sandboxed expressions and templates: they compute a value from named values, and have no side effects."""

from __future__ import annotations
