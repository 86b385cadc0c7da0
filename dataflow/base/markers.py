"""Markers: what stands for the lack of a value, and is never one itself (S1.6)."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["MISSING", "SKIP", "Marker", "Valueless"]


class Marker:
    """A value that stands for the lack of one; compared by identity (S1.6)."""

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
    """What has no value while a flow is wired, and cannot be used as one."""

    __slots__ = ()
