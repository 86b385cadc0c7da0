"""Reading the short JSON answers that models give when they look something up."""

from __future__ import annotations

import json
from typing import Any, Final

__all__ = ["object_in"]

_DECODER: Final = json.JSONDecoder()


def object_in(text: str) -> dict[str, Any] | None:
    """Return the first JSON object in an answer, whatever stands around it; None if there is none."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        found, _ = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
