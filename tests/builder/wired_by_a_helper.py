"""Subflows with problems, built for tests/builder/test_call_sites.py; each line with a problem is marked."""

from __future__ import annotations

from dataflow import Flow, flow

__all__ = ["inc", "made", "typed"]


async def inc(n: int) -> int:
    return n + 1


def made() -> Flow:
    inner = Flow("inner")
    inner.output(
        "y",
        inner.add(inc, n="x").out,  # type: ignore[arg-type]  # an argument
    )
    return inner


@flow  # the definition
def typed(f: Flow, n: int, m: str = 3) -> int:  # type: ignore[assignment]
    return f.add(inc, n=m).out  # type: ignore[arg-type]  # a port
