"""Nodes with ports of many types, for the tests of checks."""

from __future__ import annotations

from typing import Any, NamedTuple

from dataflow import Failure, Maybe

__all__ = ["Parts", "add", "anything", "blank", "inc", "logs", "many", "parts", "text", "total", "whole"]


class Parts(NamedTuple):
    title: str
    note: Maybe[str]


async def whole(n: int) -> int:
    return n


async def inc(n: int) -> int:
    return n + 1


async def add(a: int, b: int = 0) -> int:
    return a + b


async def total(numbers: list[int]) -> int:
    return sum(numbers)


async def many(*ns: int) -> int:
    return sum(ns)


async def text(t: str) -> str:
    return t


async def anything(x: Any = None) -> Any:
    return x


async def parts(n: int) -> Parts:
    return Parts(str(n), "")


async def blank() -> None: ...


async def logs(failure: Failure) -> str:
    return failure.message
