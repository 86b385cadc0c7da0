"""Sentinels for a missing value, which are never values themselves (S1.6)."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["MISSING", "SKIP", "Marker", "Valueless"]


class Marker:
    """A sentinel for a missing value, compared by identity."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def __reduce__(self) -> str:
        return self._name  # a copy or a pickle of the marker is the marker

    def __bool__(self) -> bool:
        raise TypeError(f"{self._name} is neither true nor false; compare it with `is`")


MISSING: Final = Marker("MISSING")
SKIP: Any = Marker("SKIP")


class Valueless:
    """The base of objects that have no value while a flow is wired and cannot be used as one."""

    __slots__ = ()
