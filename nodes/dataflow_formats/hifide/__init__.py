"""The format of HiFide: flows of HiFide, in JSON."""

from __future__ import annotations

__stored_as__ = "hifide"
