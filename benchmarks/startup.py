"""What does starting cost? Whole processes, as ratios to an interpreter that does nothing, side by side.

python benchmarks/startup.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from time import perf_counter
from typing import Final

REPEATS: Final = 9
NOTHING: Final = ("python", ["-c", "pass"])
STARTS: Final = (
    ("import dataflow", ["-c", "import dataflow"]),
    ("from pydantic import BaseModel", ["-c", "from pydantic import BaseModel"]),
    ("from dataflow import Flow", ["-c", "from dataflow import Flow"]),
    ("dataflow --help", ["-m", "dataflow.cli", "--help"]),
    ("dataflow nodes", ["-m", "dataflow.cli", "nodes"]),
)


def seconds(arguments: list[str]) -> float:
    """Return how long a process takes."""
    began = perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - began


def main() -> None:
    """Time each start in turn, again and again, so that whatever else happens meets all of them."""
    starts = (NOTHING, *STARTS)
    taken: dict[str, list[float]] = {name: [] for name, _ in starts}
    for _ in range(REPEATS):
        for name, arguments in starts:
            taken[name].append(seconds(arguments))
    nothing = statistics.median(taken[NOTHING[0]])
    print(f"{'start':32} {'ms':>7} {'ratio':>7}")
    for name, times in taken.items():
        print(f"{name:32} {statistics.median(times) * 1000:7.1f} {statistics.median(times) / nothing:7.1f}")


if __name__ == "__main__":
    main()
