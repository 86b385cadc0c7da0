"""What does a firing cost? A chain of trivial nodes, as a ratio to a bare loop of awaits in the same process.

python benchmarks/chain.py [NODES …]
"""

from __future__ import annotations

import gc
import statistics
import sys
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

import anyio

from dataflow import Flow

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

REPEATS = 5
SIZES = (1_000, 10_000)


async def start() -> int:
    """Begin the chain."""
    return 0


async def increment(x: int) -> int:
    """Do as little as a node can."""
    return x + 1


def chain(nodes: int) -> Flow:
    """Wire a chain of this many nodes."""
    flow = Flow("chain")
    port = flow.add(start).out
    for _ in range(nodes - 1):
        port = flow.add(increment, x=port).out
    flow.output("end", port)
    return flow


async def bare(nodes: int) -> int:
    """Do the same work in a loop of awaits."""
    value = await start()
    for _ in range(nodes - 1):
        value = await increment(value)
    return value


async def median_seconds(work: Callable[[], Awaitable[object]]) -> float:
    """Time the work, warm, with the garbage of the last repeat out of the way."""
    await work()
    times = []
    for _ in range(REPEATS):
        gc.collect()
        begun = perf_counter()
        await work()
        times.append(perf_counter() - begun)
    return statistics.median(times)


async def measure(nodes: int) -> tuple[float, float]:
    """Return microseconds per await and per firing; raises AssertionError for a wrong result."""
    flow = chain(nodes)
    flow.check()
    result = await flow.run()
    assert result["end"] == await bare(nodes) == nodes - 1, "the chain and the loop count the same"
    per_await = await median_seconds(partial(bare, nodes))
    per_firing = await median_seconds(flow.run)
    return per_await / nodes * 1e6, per_firing / nodes * 1e6


async def main(sizes: list[int]) -> None:
    """Print a line a size."""
    print(f"{'nodes':>8} {'await µs':>9} {'firing µs':>10} {'ratio':>7}")
    for nodes in sizes:
        per_await, per_firing = await measure(nodes)
        print(f"{nodes:>8} {per_await:>9.3f} {per_firing:>10.3f} {per_firing / per_await:>7.1f}")


if __name__ == "__main__":
    for backend in ("asyncio", "trio"):
        print(backend)
        anyio.run(main, [int(size) for size in sys.argv[1:]] or list(SIZES), backend=backend)
