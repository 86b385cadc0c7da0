"""Whether a firing has become dearer: counted instructions beside what is stored.

`python -m benchmarks.regression` compares, with `--store` it stores. Times differ from machine to machine and
from run to run; numbers of instructions hardly do, and their ratio to a baseline even less. A stored ratio is
raised only in a commit that says why in docs/performance.md.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from enum import Enum, IntEnum
from pathlib import Path
from typing import Final

from benchmarks.counting import CannotCount, Cost, count

__all__ = ["Code", "Verdict", "compare", "remark", "verdict"]

STORED: Final = Path(__file__).with_name("ratios.json")
#: A ratio may differ by this share from what is stored.
TOLERANCE: Final = 0.15
STORE: Final = "python -m benchmarks.regression --store"


class Code(IntEnum):
    """The exit codes; 2 is for a wrong command line."""

    HELD = 0
    DEARER = 1
    CANNOT_COUNT = 3
    NOTHING_STORED = 4


class Verdict(Enum):
    """What is to be said of a ratio."""

    HELD = "held"
    DEARER = "dearer"
    CHEAPER = "cheaper"
    NEW = "not stored"


def verdict(found: float, stored: float | None) -> Verdict:
    """Compare a ratio with the stored one."""
    if stored is None:
        return Verdict.NEW
    if found > stored * (1 + TOLERANCE):
        return Verdict.DEARER
    return Verdict.CHEAPER if found < stored * (1 - TOLERANCE) else Verdict.HELD


def compare(costs: Mapping[str, Cost], stored: Mapping[str, float]) -> tuple[str, Code]:
    """Return the report on all workloads, and the exit code."""
    lines = [f"{'workload':10} {'ours':>9} {'baseline':>9} {'ratio':>7} {'stored':>7}  instructions a unit"]
    remarks, verdicts = [], set()
    for name, cost in costs.items():
        kept = stored.get(name)
        shown = "–" if kept is None else f"{kept:.1f}"
        lines.append(f"{name:10} {cost.ours:9,.0f} {cost.baseline:9,.0f} {cost.ratio:7.1f} {shown:>7}")
        found = verdict(cost.ratio, kept)
        verdicts.add(found)
        if found is not Verdict.HELD:
            remarks.append(f"{name}: {remark(cost.ratio, kept, found)}")
    code = Code.DEARER if verdicts & {Verdict.DEARER, Verdict.NEW} else Code.HELD
    return "\n".join([*lines, *remarks]), code


def remark(found: float, stored: float | None, said: Verdict) -> str:
    """Say what to do about a ratio."""
    if stored is None:
        return f"nothing is stored for {python()}; store its ratio with `{STORE}`"
    share = round(100 * abs(found / stored - 1))
    takes = f"takes {found:.1f} times the instructions of its baseline, {share} %"
    if said is Verdict.CHEAPER:
        return f"{takes} less than the stored {stored:.1f}; `{STORE}` keeps it so"
    return (
        f"{takes} more than the stored {stored:.1f}, where {TOLERANCE * 100:.0f} % are allowed. Make it "
        f"cheaper; or, if it has to cost that, `{STORE}` in a commit that says why in docs/performance.md"
    )


def python() -> str:
    """Name the version of Python: each runs another number of instructions."""
    return f"Python {sys.version_info.major}.{sys.version_info.minor}"


def main(arguments: list[str]) -> Code:
    """Count, then compare or store."""
    if arguments not in ([], ["--store"]):
        print(f"usage: {STORE.removesuffix(' --store')} [--store]", file=sys.stderr)
        sys.exit(2)
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    if not arguments and python() not in stored:
        print(f"{STORED.name} has no ratios of {python()}, but of: {', '.join(stored)}", file=sys.stderr)
        return Code.NOTHING_STORED
    try:
        costs = count()
    except CannotCount as reason:
        print(f"cannot count instructions: {reason}", file=sys.stderr)
        return Code.CANNOT_COUNT
    text, code = compare(costs, stored.get(python(), {}))
    print(text)
    if not arguments:
        return code
    stored[python()] = {name: round(cost.ratio, 1) for name, cost in costs.items()}
    STORED.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    print(f"stored in {STORED.name}")
    return Code.HELD


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
