"""Threads, callables, nodes that never wait (S9.2, S1.2)."""

from __future__ import annotations

import pytest
from anyio import create_task_group
from anyio.lowlevel import checkpoint

from dataflow import Flow, RunFailed, collect, each, node, threaded
from tests.support.steady import end_slices_after


@threaded
def divide(x: int, y: int = 1) -> float:
    return x / y


async def test_blocking_code_runs_in_a_thread() -> None:
    with Flow() as f:
        f.output("o", collect(f.add(divide, x=each([1, 2, 3])).out))
    assert (await f.run())["o"] == [1.0, 2.0, 3.0]


async def test_an_exception_in_a_thread_is_the_failure_of_its_node() -> None:
    with Flow() as f:
        f.output("o", f.add(divide, x=1, y=0).out)
    with pytest.raises(RunFailed) as raised:
        await f.run()
    assert type(raised.value.__cause__) is ZeroDivisionError
    assert "return x / y" in raised.value.failures[0].traceback


async def test_a_node_is_any_callable_that_gives_an_awaitable() -> None:
    class Adder:
        def __init__(self, by: int) -> None:
            self.by = by

        async def __call__(self, x: int) -> int:
            return x + self.by

        async def method(self, x: int) -> int:
            return x - self.by

    with Flow() as f:
        first = f.add(node(Adder(5)).with_(name="first"), x=1)
        f.output("o", f.add(Adder(2).method, x=first.out).out)
    assert (await f.run())["o"] == 4


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
