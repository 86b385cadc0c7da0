"""The fields of the classes whose instances are stored, and their types."""

from __future__ import annotations

import dataclasses
import typing
from enum import Enum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["field_types", "has_fields", "is_named_tuple"]


def is_named_tuple(kind: type) -> bool:
    """Tell whether this is the class of a NamedTuple."""
    return issubclass(kind, tuple) and isinstance(getattr(kind, "_fields", None), tuple)


def has_fields(kind: type) -> bool:
    """Tell whether instances of this class can be taken apart and put together again."""
    return issubclass(kind, Enum | BaseModel) or dataclasses.is_dataclass(kind) or is_named_tuple(kind)


def field_types(kind: type) -> Iterator[object]:
    """Yield the types of the fields, those that can be found."""
    if issubclass(kind, BaseModel):
        yield from (field.annotation for field in kind.model_fields.values())
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
    except Exception:  # noqa: BLE001 - an annotation is any expression; what it names may not be there
        hints = {name: hint for base in kind.__mro__ for name, hint in _written(base).items()}
    yield from hints.values()


def _written(kind: type) -> dict[str, Any]:
    hints: dict[str, Any] = vars(kind).get("__annotations__", {})
    return hints
