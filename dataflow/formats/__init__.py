"""Flow documents: the native format, and what reads and writes its text."""

from __future__ import annotations
