"""Problems of secrets (DF10)."""

from __future__ import annotations
