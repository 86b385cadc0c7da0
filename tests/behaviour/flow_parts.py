"""Functions that the flows and documents of the build tests wire."""

from __future__ import annotations

from typing import NamedTuple


class Parts(NamedTuple):
    title: str
    chunks: list[str]


class Point(NamedTuple):
    x: int
    y: int


async def fetch(url: str) -> str:
    return url


async def split(doc: str) -> Parts:
    return Parts(doc[:1], [doc])


async def summarise(text: str, style: str = "short") -> str:
    return text


async def join(parts: list[str]) -> str:
    return " ".join(parts)


async def length(text: str) -> int:
    return len(text)


async def point() -> Point:
    return Point(1, 2)


async def inc(x: int) -> int:
    return x + 1


async def pair(p: int, q: int) -> list[int]:
    return [p, q]
