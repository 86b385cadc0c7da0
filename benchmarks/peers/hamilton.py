"""Hamilton: nodes are functions of a module. Its faster, synchronous Driver; AsyncDriver for sleepers."""

from __future__ import annotations

import logging
import os
import sys
import threading
from functools import partial
from types import ModuleType

from benchmarks.peers.playing import building, in_async, play
from benchmarks.shapes import MODULUS, SLEEP, Shape, chain, diamonds, fan_out, layered
from benchmarks.timing import Work, whole

os.environ["HAMILTON_TELEMETRY_ENABLED"] = "false"
logging.disable(logging.WARNING)

from hamilton import ad_hoc_utils, async_driver, base, driver  # noqa: E402 - it reads the settings above

STACK = 512 * 1024 * 1024


def module_of(shape: Shape, nap: bool = False) -> ModuleType:
    """Write the functions of a module; that is the author's work and no part of building."""
    lines = ["import asyncio"]
    for node, sources in enumerate(shape.sources):
        names = [f"n{source}" for source in sources]
        inputs = ", ".join(f"{name}: int" for name in names)
        total = f"sum(({', '.join(names)})) % {MODULUS}"
        result = "1" if not names else f"{names[0]} + 1" if len(names) == 1 else total
        sleep = f"await asyncio.sleep({SLEEP}); " if nap and len(names) == 1 else ""
        lines.append(f"{'async ' if nap else ''}def n{node}({inputs}) -> int: {sleep}return {result}")
    module: ModuleType = ad_hoc_utils.module_from_source("\n".join(lines))
    return module


def built(module: ModuleType) -> driver.Driver:
    """Build the driver."""
    return driver.Builder().with_modules(module).with_adapters(base.DefaultAdapter()).build()


def shaped(shape: Shape) -> Work:
    """Run a shape."""
    graph = built(module_of(shape))
    ends = [f"n{end}" for end in shape.ends]
    return Work(in_async(lambda: sum(graph.execute(ends).values())), shape.result, len(shape))


def sleeping(width: int) -> Work:
    """Run nodes that sleep."""
    shape = fan_out(width)
    graph = async_driver.Builder().with_modules(module_of(shape, nap=True)).build_without_init()
    ends = [f"n{end}" for end in shape.ends]

    async def run() -> int:
        if not graph.initialized:
            await graph.ainit()
        return sum((await graph.execute(ends)).values())

    return Work(run, shape.result, len(shape))


def build(nodes: int) -> Work:
    """Build a chain."""
    return building(partial(built, module_of(chain(nodes))), nodes)


WORKS = {
    "chain": lambda size: shaped(chain(size)),
    "fan-out": lambda size: shaped(fan_out(size)),
    "layered": lambda size: shaped(layered(size)),
    "diamonds": lambda size: shaped(diamonds(size)),
    "fixed": lambda size: whole(shaped(chain(size))),
    "building": build,
    "sleepers": sleeping,
}

if __name__ == "__main__":
    sys.setrecursionlimit(1_000_000)  # it recurses over the graph
    threading.stack_size(STACK)
    thread = threading.Thread(target=play, args=(WORKS,))
    thread.start()
    thread.join()
