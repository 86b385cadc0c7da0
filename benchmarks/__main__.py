"""The table: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path

from benchmarks.measuring import Cell, Figures, cells_of, measure
from benchmarks.peers.known import PEERS, NotInstalled, peer_cells, version_of
from benchmarks.plot import PLOTTED, SIZES, draw
from benchmarks.question import Question
from benchmarks.questions import QUESTIONS
from benchmarks.table import markdown, peers_table, plain, table


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure what a run costs.")
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, metavar="NAME", help=", ".join(QUESTIONS))
    parser.add_argument("--rounds", type=int, default=1, help="measure all so many times and take medians")
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="FOLDER",
        help="measure the peers that benchmarks.peers.install put there",
    )
    parser.add_argument("--markdown", action="store_true", help="print tables as they stand on the page")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="instead of the table draw cost against size; needs matplotlib",
    )
    return parser.parse_args()


def machine() -> str:
    """Name the processors."""
    told = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in told if line.startswith("model name")]
    return f"{len(names)} × {names[0]}" if names else platform.machine()


def versions(peers: Path | None) -> dict[str, str]:
    """Say which versions are measured."""
    ours = {
        "Python": platform.python_version(),
        **{name: version(name) for name in ("anyio", "pydantic", "trio")},
    }
    return (
        ours if peers is None else {**ours, **{name: version_of(peers, peer) for name, peer in PEERS.items()}}
    )


def document(figures: Figures, told: dict[str, str]) -> dict[str, object]:
    """Return every figure with where it was measured, for JSON."""

    def placed(cell: Cell) -> dict[str, object]:
        return {"question": cell.question, "size": cell.size, "way": str(cell.way)}

    return {
        "machine": machine(),
        "versions": told,
        "cells": [{**placed(cell), "figures": samples} for cell, samples in figures.samples.items()],
        "failures": [{**placed(cell), "failure": failure} for cell, failure in figures.failures.items()],
    }


def tables(questions: list[Question], figures: Figures, given: argparse.Namespace) -> str:
    """Return what is printed."""
    show = markdown if given.markdown else plain
    peers = list(PEERS) if given.compare else []
    parts = [show(table(questions, figures, peers))]
    if peers:
        parts.append(show(peers_table(questions, figures, peers)))
    return "\n\n".join(parts)


def main() -> int:
    """Measure and print; 1 if something could not be measured."""
    given = arguments()
    try:
        told = versions(given.compare)
    except NotInstalled as problem:
        sys.exit(str(problem))
    names = given.only or list(PLOTTED if given.plot else QUESTIONS)
    questions = [QUESTIONS[name] for name in names]
    cells = cells_of(questions, SIZES if given.plot else ())
    if given.compare:
        cells += peer_cells(given.compare.resolve(), names)
        cells.sort(key=lambda cell: (names.index(cell.question), cell.size))  # the peers beside the others
    figures = measure(cells, given.rounds, lambda text: print(text, file=sys.stderr))
    if given.plot:
        draw(questions, figures, given.plot)
    else:
        print(tables(questions, figures, given))
        print(f"\n{machine()}; " + ", ".join(f"{name} {number}" for name, number in told.items()))
    if given.json:
        text = json.dumps(document(figures, told), indent=1)
        given.json.write_text(f"{text}\n", encoding="utf-8")
    for cell, failure in figures.failures.items():
        print(f"{cell.question} {cell.size:,} {cell.way} failed: {failure}", file=sys.stderr)
    return int(bool(figures.failures))


if __name__ == "__main__":
    sys.exit(main())
