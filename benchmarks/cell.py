"""One figure in a fresh process: `python -m benchmarks.cell chain 1000 asyncio` prints it as JSON."""

from __future__ import annotations

import json
import sys

from benchmarks.question import Way
from benchmarks.questions import QUESTIONS


def main(name: str, size: str, way: str) -> None:
    """Measure, and print the figure."""
    print(json.dumps(QUESTIONS[name].measures[Way(way)](int(size))))


if __name__ == "__main__":
    main(*sys.argv[1:])
