"""Tools for models: Python functions, toolboxes, and the policies that allow calls."""

from __future__ import annotations
