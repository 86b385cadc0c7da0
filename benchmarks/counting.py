"""Instructions a firing, counted by valgrind, as a ratio to the same work without an engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from benchmarks.measuring import ROOT, environment

__all__ = ["CannotCount", "Cost", "Count", "costs_of", "count", "slope"]

VALGRIND: Final = ("valgrind", "--quiet", "--tool=cachegrind", "--cache-sim=no")
SUMMARY: Final = "summary: "


class CannotCount(Exception):
    """Instructions cannot be counted here."""


class Count(NamedTuple):
    """The instructions of a process that did so many units, and whatever each process does."""

    units: int
    instructions: int


class Cost(NamedTuple):
    """Instructions a unit, with the engine and without."""

    ours: float
    baseline: float

    @property
    def ratio(self) -> float:
        """How many times the baseline's the engine's are."""
        return self.ours / self.baseline


def slope(few: Count, many: Count) -> float:
    """Return the instructions a unit, without those that have nothing to do with the units."""
    return (many.instructions - few.instructions) / (many.units - few.units)


def count() -> dict[str, Cost]:
    """Count each workload; raises CannotCount."""
    if shutil.which("valgrind") is None:
        raise CannotCount("valgrind is not installed: `apt-get install valgrind`")
    with TemporaryDirectory() as folder:
        command = [
            *VALGRIND,
            f"--cachegrind-out-file={folder}/%p",
            sys.executable,
            "-m",
            "benchmarks.counted",
        ]
        done = subprocess.run(
            command, env=environment(os.environ), cwd=ROOT, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise CannotCount(f"valgrind ended with exit code {done.returncode}:\n{done.stderr}")
        totals = {path.name: total(path) for path in Path(folder).iterdir()}
    return costs_of(done.stdout, totals)


def total(path: Path) -> int:
    """Read the number of instructions in a file of cachegrind's."""
    *_, last = path.read_text(encoding="utf-8").splitlines()
    return int(last.removeprefix(SUMMARY).split()[0])


def costs_of(told: str, totals: Mapping[str, int]) -> dict[str, Cost]:
    """Return what each workload costs, from what `benchmarks.counted` told and the totals by process."""
    counts: dict[tuple[str, str], list[Count]] = {}
    for line in told.splitlines():
        name, who, units, process = line.split()
        counts.setdefault((name, who), []).append(Count(int(units), totals[process]))
    slopes = {key: slope(few, many) for key, (few, many) in counts.items()}
    return {
        name: Cost(found, slopes[name, "baseline"]) for (name, who), found in slopes.items() if who == "ours"
    }
