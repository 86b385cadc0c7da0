"""Problems of packs and formats, and how they are found (DF13)."""

from __future__ import annotations
