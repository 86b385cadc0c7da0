from __future__ import annotations
from typing import Any
import anyio, threading
from anyio.lowlevel import checkpoint
import pytest
from dataflow import *
from dataflow import each, collect


async def test_digest_of_skipped_opener():
    calls = []

    async def some(n: int) -> Maybe[list[int]]:
        return SKIP if n < 0 else [n, n + 1]

    async def inc(x: int) -> int:
        return x + 1

    async def last(y: int, xs: list[int] = [-1]) -> list[int]:
        calls.append(xs)
        return xs

    with Flow("f") as flow:
        n = flow.input("n", int)
        l = flow.add(some, n=n)
        i = flow.add(inc, x=each(l.out))
        flow.output("o", flow.add(last, y=flow.input("y", int, 0), xs=collect(i.out)).out)
        flow.output("m", collect(i.out))
    async with flow.live(n=1) as s:
        assert await s.get("o") == [2, 3]
        await s.update(n=-1)
        assert await s.get("o") == [-1]
        await s.update(n=1)
        assert await s.get("m") == [2, 3]
        assert await s.get("o") == [2, 3]
