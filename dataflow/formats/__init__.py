"""Flow documents: the native format, foreign formats, and reading and writing their text."""

from __future__ import annotations
