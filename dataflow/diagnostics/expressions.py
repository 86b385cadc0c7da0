"""Problems of expressions and templates (DF07)."""

from __future__ import annotations
