"""The process in which instructions are counted; `benchmarks.counting` starts it under valgrind.

Each count is taken in a fork, so that everything is imported and built once. What a fork did before its work
is the same for few repeats as for many, and falls out of the difference.
"""

from __future__ import annotations

import asyncio
import gc
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from benchmarks import building, chain, diamonds, fan_out, layered, live, loop, mapping
from benchmarks.question import Way, WorkOf, Works
from benchmarks.timing import Work

__all__ = ["COUNTED", "Counted"]

#: How often a work is done in the two forks. What is done the first time only is in both.
FEW: Final = 10
MANY: Final = 20
#: How many runs are counted together.
RUNS: Final = 50


@dataclass(frozen=True, slots=True)
class Counted:
    """A work at a size, and the baseline, which is the same without an engine."""

    ours: WorkOf
    baseline: WorkOf
    size: int


def counted(works: Works, size: int, baseline: Way = Way.BARE) -> Counted:
    """Compare a way with this engine."""
    return Counted(works[Way.ASYNCIO], works[baseline], size)


def runs_of(make: WorkOf) -> WorkOf:
    """Count runs, many of them in a row: a single one is too short."""

    def made(size: int) -> Work:
        work = make(size)

        async def run() -> object:
            for _ in range(RUNS):
                found = await work.run()
            return found

        return replace(work, run=run, units=RUNS)

    return made


COUNTED: Final[dict[str, Counted]] = {
    "chain": counted(chain.WORKS, 1_000),
    "fan-out": counted(fan_out.WORKS, 1_000),
    "layered": counted(layered.WORKS, 1_000),
    "diamonds": counted(diamonds.WORKS, 300),
    "loop": counted(loop.WORKS, 300),
    "map": counted(mapping.WORKS, 1_000),
    "live": counted(live.WORKS, 100),
    "run": Counted(runs_of(chain.WORKS[Way.ASYNCIO]), runs_of(chain.WORKS[Way.BARE]), 3),
    "building": counted(building.WORKS, 500, Way.HAND),
}


async def repeat(work: Work, times: int) -> None:
    """Do the work again and again."""
    for _ in range(times):
        await work.play()


def in_fork(function: Callable[[], object]) -> int:
    """Call the function in a copy of this process and return the id of that; raises ChildProcessError."""
    id = os.fork()
    if id == 0:
        code = 1
        try:
            function()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(id, 0)
    if status:
        raise ChildProcessError(f"a fork has ended with status {status}")
    return id


def main() -> None:
    """Print a line a count: of what, whether `ours` or `baseline`, how many units, by which process."""
    for name, case in COUNTED.items():
        for who, make in (("ours", case.ours), ("baseline", case.baseline)):
            work = make(case.size)
            gc.collect()
            gc.freeze()  # what was there before is no business of the work's
            for times in (FEW, MANY):
                id = in_fork(lambda work=work, times=times: asyncio.run(repeat(work, times)))  # type: ignore[misc]
                print(name, who, times * work.units, id, flush=True)
            gc.unfreeze()


if __name__ == "__main__":
    warnings.simplefilter("error")
    main()
