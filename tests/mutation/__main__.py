"""Play the stored mutants of scheduler, durable, memo and live, and count those that tests catch.

`python -m tests.mutation` tries each with the tests that are known to catch it, and fails if one is caught no
longer. `--search` looks where none is known or left for tests that catch it, among all that pass through its
place, and stores them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.mutation.measuring import Fate, Measuring, Played, say
from tests.mutation.mutants import Mutant, load, store

ROOT: Final = Path(__file__).parents[2]
#: The tests that are measured.
ROOMS: Final = ("behaviour", "scheduler", "durable", "memo", "live", "runtime", "faults")
EARLY: Final = (
    "-W",
    "ignore:Module already imported:pytest.PytestAssertRewriteWarning",
)  # the engine, by this
#: Deep tests too, and nothing but the lines of this.
OPTIONS: Final = ("-m", "", "-qq", "-s", "-p", "no:cacheprovider", "--no-summary", "--no-header")


def main() -> int:
    """Measure the tests, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="play so many side by side")
    parser.add_argument("--search", action="store_true", help="look for tests that catch what survives")
    options = parser.parse_args()
    os.environ.setdefault("CI", "true")  # draws the same examples each time
    mutants = load()
    measuring = Measuring(mutants, options.jobs, searches=options.search)
    code = pytest.main([*EARLY, *OPTIONS, *_paths(mutants, searches=options.search)], plugins=[measuring])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return int(code)
    played = measuring.played
    if options.search:
        store(one.mutant for one in played)
    return _report(played)


def _paths(mutants: list[Mutant], *, searches: bool) -> list[str]:
    """Return the folders or files that pytest has to collect."""
    if searches:
        return [f"tests/{room}" for room in ROOMS]
    files = {test.partition("::")[0] for mutant in mutants for test in mutant.caught_by}
    return sorted(file for file in files if (ROOT / file).exists())


def _report(played: list[Played]) -> int:
    """Print the mutants that are not caught and how many are; return 1 if one is lost."""
    fates = Counter(one.fate for one in played)
    lost = [one for one in played if one.fate is Fate.SURVIVES and one.mutant.caught_by]
    for one in played:
        if one.fate in (Fate.SURVIVES, Fate.GONE):
            say(f"\n{'lost' if one in lost else one.fate}: {one.mutant}")
            say(one.change.diff if one.change else f"+{one.mutant.line}")
    say("\n" + ", ".join(f"{fates[fate]} {fate}" for fate in Fate) + f", {len(lost)} lost")
    say(f"caught {fates[Fate.CAUGHT]} of {len(played)}")
    return 1 if lost or fates[Fate.GONE] else 0


if __name__ == "__main__":
    sys.exit(main())
