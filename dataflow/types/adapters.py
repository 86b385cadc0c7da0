"""Build pydantic's adapters, once per type."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ForwardRef

from pydantic import ConfigDict, TypeAdapter

__all__ = ["adapter_of"]

# Types come from signatures, so there are few; a bound all the same, for types made while running.
MOST_ADAPTERS = 1024

# pydantic refuses a config beside types that carry their own: models, dataclasses, TypedDicts.
CONFIGS = (ConfigDict(arbitrary_types_allowed=True), None)


def adapter_of(expected: Any) -> TypeAdapter[Any] | None:
    """Give the adapter of a type, None where pydantic cannot build one."""
    if isinstance(expected, str | ForwardRef):
        # pydantic would look the name up among the names of this module.
        return None
    try:
        hash(expected)
    except TypeError:
        return _build(expected)
    return _build_once(expected)


def _build(expected: Any) -> TypeAdapter[Any] | None:
    for config in CONFIGS:
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(expected, config=config)
        except Exception:  # noqa: BLE001, S112 - the schema hooks of foreign types may raise anything
            continue
        if adapter.pydantic_complete:
            return adapter
    return None


_build_once = lru_cache(MOST_ADAPTERS)(_build)
