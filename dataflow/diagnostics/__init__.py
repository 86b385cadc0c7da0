"""Diagnostics: problems as data, each of a kind with a stable code."""

from __future__ import annotations
