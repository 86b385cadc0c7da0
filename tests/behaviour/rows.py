"""Rows of nodes that never wait, as they are fired one after the other."""

from __future__ import annotations

from typing import Any

from anyio.lowlevel import checkpoint

from dataflow import Flow, node
from tests.support.quick_nodes import inc, one


async def waiting(x: int) -> int:
    """Wait as often as a cancellation needs to arrive that was left in the task."""
    for _ in range(3):
        await checkpoint()
    return x + 1


def row(f: Flow, middle: Any, after: int = 3) -> None:
    """Wire a row of quick nodes with one among them, and beside it one that waits and a row behind that."""
    port = f.add(middle, x=f.add(inc, x=f.add(one).out).out).out
    for _ in range(after):
        port = f.add(inc, x=port).out
    f.output("o", port)
    port = f.add(node(waiting).with_(name="beside"), x=1).out
    for number in range(after):
        port = f.add(node(inc).with_(name=f"beside_{number}"), x=port).out
    f.output("beside", port)
