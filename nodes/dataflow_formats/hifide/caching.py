"""When a value that was kept still counts. Pure."""

from __future__ import annotations

from typing import Any, TypedDict

__all__ = ["Entry", "is_fresh"]


class Entry(TypedDict):
    """A value, and when it was kept, in seconds."""

    value: Any
    at: float


def is_fresh(entry: Entry, ttl: float, invalidate: float | None, now: float) -> bool:
    """Tell whether it is younger than `ttl` and was not kept before `invalidate`."""
    return now - entry["at"] < ttl and not (invalidate is not None and invalidate > entry["at"])
