"""Sandboxed expressions and templates: text that computes a value and can do nothing else."""

from __future__ import annotations
