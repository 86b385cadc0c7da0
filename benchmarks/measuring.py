"""Measuring many cells, each in a fresh process, all of them in turn and then again."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.question import Question, Way

__all__ = ["Cell", "Figures", "cells_of", "measure"]

ROOT: Final = Path(__file__).parents[1]
#: A cell that takes longer than so many seconds has failed.
PATIENCE: Final = 300


@dataclass(frozen=True, slots=True)
class Cell:
    """A place in the table: a question at a size, and who is asked."""

    question: str
    size: int
    way: str
    command: tuple[str, ...] = field(compare=False, default=())


@dataclass(slots=True)
class Figures:
    """What was measured, and what went wrong."""

    samples: dict[Cell, list[float]] = field(default_factory=dict)
    failures: dict[Cell, str] = field(default_factory=dict)

    def median(self, question: str, size: int, way: str) -> float | None:
        """Return the figure of a cell; None if it was not measured, or failed."""
        samples = self.samples.get(Cell(question, size, way))
        return statistics.median(samples) if samples else None

    def has_failed(self, question: str, size: int, way: str) -> bool:
        """Tell whether a cell could not be measured."""
        return Cell(question, size, way) in self.failures


def cells_of(
    questions: Iterable[Question], sizes: Sequence[int] = (), ways: Iterable[Way] = Way
) -> list[Cell]:
    """List the cells of the questions, at their own sizes unless others are given."""
    return [
        Cell(
            question.name, size, way, (sys.executable, "-m", "benchmarks.cell", question.name, str(size), way)
        )
        for question in questions
        for size in sizes or question.sizes
        for way in ways
        if way in question.measures
    ]


def measure(cells: Sequence[Cell], rounds: int, tell: Callable[[str], object]) -> Figures:
    """Measure all cells once a round; one that fails is not tried again."""
    figures = Figures()
    for number in range(1, rounds + 1):
        for cell in cells:
            if cell in figures.failures:
                continue
            found = _figure(cell)
            name = f"round {number}: {cell.question} {cell.size:,} {cell.way}"
            if isinstance(found, float):
                figures.samples.setdefault(cell, []).append(found)
                tell(f"{name}: {found:.3f}")
            else:
                figures.failures[cell] = found
                tell(f"{name} failed: {found}")
    return figures


def environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a cell: the same hashes in each, this checkout before what is installed."""
    path = os.pathsep.join(filter(None, [str(ROOT), str(ROOT / "nodes"), inherited.get("PYTHONPATH")]))
    return {**inherited, "PYTHONHASHSEED": "0", "PYTHONPATH": path}


def _figure(cell: Cell) -> float | str:
    """Run the process of a cell and return its figure, or what went wrong."""
    try:
        done = subprocess.run(
            cell.command,
            env=environment(os.environ),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return f"no figure after {PATIENCE} s"
    if done.returncode:
        return (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
    return float(json.loads(done.stdout.splitlines()[-1]))
