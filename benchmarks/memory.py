"""How much memory a flow takes for each of its nodes, built and run once."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.flows import run_shape
from benchmarks.limits import by_hand
from benchmarks.prototype_works import prototype_of
from benchmarks.question import Question, Way
from benchmarks.shapes import Shape, chain
from benchmarks.timing import Work, run_on

__all__ = ["QUESTION"]


def kilobytes(field: str) -> int:
    """Read a figure of this process: VmRSS is what it holds now, VmHWM the most it ever held."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
    assert found is not None, f"Linux tells {field} of every process"
    return int(found[1])


def grown(make: Callable[[Shape], Work], backend: str, size: int) -> float:
    """Return by how much the peak exceeds what the process held before it built anything."""
    shape = chain(size)
    _ = shape.ends, shape.readers, shape.result
    run_on(backend, Work.play, make(chain(3)))  # whatever is imported on first use
    gc.collect()
    before = kilobytes("VmRSS")
    run_on(backend, Work.play, make(shape))
    return (kilobytes("VmHWM") - before) / size


QUESTION = Question(
    "memory",
    "memory of a chain of {:,} nodes, built and run",
    "kB a node",
    (100_000,),
    {
        Way.ASYNCIO: partial(grown, run_shape, "asyncio"),
        Way.TRIO: partial(grown, run_shape, "trio"),
        Way.HAND: partial(grown, by_hand, "asyncio"),
        Way.PROTOTYPE: partial(grown, prototype_of, "asyncio"),
    },
    target=3.0,
)
