"""Secrets of pydantic, such as `SecretStr`, which hold their value: they are known once they enter a run."""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from dataclasses import fields, is_dataclass
from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from dataflow.errors import SecretMissing
from dataflow.secrets.secret import noted

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["is_secret", "make_known"]

#: Frequent types without secrets in them.
_WITHOUT: Final = frozenset({str, bytes, int, float, bool, NoneType})

_NOT_OF_NAMES: Final = re.compile(r"[^\w.-]", re.ASCII)


def is_secret(kind: type) -> bool:
    """Return whether a class is one of pydantic's secrets, or derived from one; does not import pydantic."""
    return any(
        base.__module__ == "pydantic.types" and base.__name__ == "_SecretBase" for base in kind.__mro__
    )


def make_known(values: Iterable[tuple[str, Any]]) -> None:
    """Make the secrets in named values known, so that they are masked wherever they leave, under these names.

    Models, dataclasses, named tuples and collections are searched to the end; other objects are not read.
    """
    todo, seen = list(values), set[int]()
    for name, value in todo:  # grows while it is walked
        if id(value) in seen:
            continue
        seen.add(id(value))
        parts = _parts(name, value)
        if parts is not None:
            todo += parts
        elif is_secret(type(value)):
            _know(name, value.get_secret_value())


def _parts(name: str, value: Any) -> Iterable[tuple[str, Any]] | None:
    """List the parts of a value with names, for items that of their collection; None if it has no parts."""
    match value:  # the most frequent first
        case str() | bytes() | int() | float() | None:
            return ()
        case tuple() if hasattr(value, "_fields"):
            return zip(value._fields, value, strict=False)
        case list() | tuple() | set() | frozenset() | deque():
            return () if _are_without(value) else [(name, part) for part in value]
        case dict() | MappingProxyType():
            keys = () if _are_without(value) else [(name, key) for key in value]
            return [*keys, *((str(key), part) for key, part in value.items())]
        case BaseModel():
            others = (getattr(value, one, None) for one in ("__pydantic_extra__", "__pydantic_private__"))
            return [*vars(value).items(), *(pair for one in others if one for pair in one.items())]
        case _ if is_dataclass(value) and not isinstance(value, type):
            return [(one.name, getattr(value, one.name, None)) for one in fields(value)]
        case _:
            return None


def _are_without(items: Iterable[object]) -> bool:
    try:
        return _WITHOUT.issuperset(map(type, items))
    except TypeError:  # a class that has no hash
        return False


def _know(name: str, value: object) -> None:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if isinstance(text, str):
        with suppress(SecretMissing):  # it is empty, or not text
            noted(_masked_as(name), text)


def _masked_as(name: str) -> str:
    """Return the name of a secret for its masks, which cannot have all characters."""
    written = _NOT_OF_NAMES.sub("_", name)
    return written if written[:1].isalpha() else f"_{written}"
