"""Problems of files and documents (DF01)."""

from __future__ import annotations
