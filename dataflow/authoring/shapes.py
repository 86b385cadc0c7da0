"""Looking into a file that may hold anything: what is of another shape than expected is passed over."""

from __future__ import annotations

from typing import Any

__all__ = ["get_mapping", "get_mappings"]


def get_mappings(data: Any, key: str) -> list[dict[str, Any]]:
    """Return the mappings in the list under a key, none where there is no list; `data` may be anything."""
    found = data.get(key) if isinstance(data, dict) else None
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def get_mapping(data: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the mapping under a key, an empty one where there is none."""
    found = data.get(key)
    return found if isinstance(found, dict) else {}
