"""The table: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path

from benchmarks.measuring import Figures, cells_of, measure
from benchmarks.questions import QUESTIONS
from benchmarks.table import markdown, plain, table


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure what a run costs.")
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, metavar="NAME", default=list(QUESTIONS))
    parser.add_argument("--rounds", type=int, default=1, help="measure all this many times, take medians")
    parser.add_argument("--markdown", action="store_true", help="print the table as it stands in the page")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    return parser.parse_args()


def machine() -> dict[str, str]:
    """Say where this is measured, and with which versions."""
    versions = {name: version(name) for name in ("anyio", "pydantic", "trio")}
    return {"python": platform.python_version(), "machine": _processor(), **versions}


def _processor() -> str:
    told = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in told if line.startswith("model name")]
    return f"{len(names)} × {names[0]}" if names else platform.machine()


def write(path: Path, figures: Figures) -> None:
    """Write every figure with where it was measured."""
    cells = [
        {"question": cell.question, "size": cell.size, "way": str(cell.way), "figures": samples}
        for cell, samples in figures.samples.items()
    ]
    failures = [
        {"question": cell.question, "size": cell.size, "way": str(cell.way), "failure": failure}
        for cell, failure in figures.failures.items()
    ]
    document = {"measured": machine(), "cells": cells, "failures": failures}
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    """Measure and print; 1 if something could not be measured."""
    given = arguments()
    questions = [QUESTIONS[name] for name in given.only]
    figures = measure(cells_of(questions), given.rounds, lambda text: print(text, file=sys.stderr))
    show = markdown if given.markdown else plain
    print(show(table(questions, figures)))
    print("\n" + ", ".join(f"{name} {told}" for name, told in machine().items()))
    if given.json:
        write(given.json, figures)
    for cell, failure in figures.failures.items():
        print(f"{cell.question} {cell.size:,} {cell.way} failed: {failure}", file=sys.stderr)
    return int(bool(figures.failures))


if __name__ == "__main__":
    sys.exit(main())
