"""Threads, callables, nodes that never wait (S9.2, S1.2)."""

from __future__ import annotations

import pytest
from anyio import create_task_group
from anyio.lowlevel import checkpoint

from dataflow import Flow, collect, each, threaded
from tests.support.steady import end_slices_after


@threaded
def divide(x: int, y: int = 1) -> float:
    return x / y


async def test_blocking_code_runs_in_a_thread() -> None:
    with Flow() as f:
        f.output("o", collect(f.add(divide, x=each([1, 2, 3])).out))
    assert (await f.run())["o"] == [1.0, 2.0, 3.0]


async def test_nodes_that_never_wait_do_not_starve_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker looks at the clock every 32 firings; here its slice is always used up."""
    end_slices_after(monkeypatch, -1.0)
    ticks = 0
    done = False

    async def tick() -> None:
        nonlocal ticks
        while not done:
            ticks += 1
            await checkpoint()

    async def work(x: int) -> int:
        return x + 1

    with Flow() as f:
        port = f.input("x", int)
        for _ in range(3200):
            port = f.add(work, x=port).out
        f.output("o", port)
    async with create_task_group() as group:
        group.start_soon(tick)
        await checkpoint()
        begun = ticks
        assert (await f.run(x=0))["o"] == 3200
        assert ticks - begun >= 100
        done = True
