"""What a node has looked up before it acts; what comes of it in a run is told by its class."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["App", "Element", "Target"]


@dataclass(frozen=True, slots=True)
class App:
    """A running app."""

    name: str
    pid: int


@dataclass(frozen=True, slots=True)
class Element:
    """What is called otherwise on the screen than by the user."""

    name: str


@dataclass(frozen=True, slots=True)
class Target:
    """The place of a click."""

    x: float
    y: float
