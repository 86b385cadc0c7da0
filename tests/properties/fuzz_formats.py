"""Fuzz the loader of a foreign format: whatever stands in a file, it becomes a flow or a clear error.

`python -m tests.properties.fuzz_formats --format cagent [--seconds 15] [--seed 1]` spoils the golden files of
the format as `fuzz_native` spoils documents, and ends as that does. `--first N --count 1` replays input N.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

from dataflow.formats.reader import read
from tests.nodes.formats.golden import FILES
from tests.properties.effort import in_part
from tests.properties.fuzz_native import fuzz, tell
from tests.properties.mutating import spoilt

__all__ = ["files_of"]


def files_of(format: str) -> list[Any]:
    """Return the golden files of a format as plain data, without those that they convert to."""
    paths = [path for path in FILES.values() if path.parent.name == format]
    return [read(path.read_text("utf-8"), path.name, takes_words=True)[0] for path in paths]


def main() -> int:
    """Fuzz for a while and tell what came of it; 1 if something bad did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--format", required=True)
    parser.add_argument("--seconds", type=float, default=in_part(60))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int)
    given = parser.parse_args()
    end = time.monotonic() + given.seconds
    numbers = itertools.islice(itertools.count(given.first), given.count)
    spoil = partial(spoilt, documents=files_of(given.format))
    with tempfile.TemporaryDirectory() as folder:
        running = takewhile(lambda _: time.monotonic() < end, numbers)
        report = fuzz(given.seed, running, Path(folder), spoil=spoil)
    tell(report, given.seed)
    return int(bool(report.failure))


if __name__ == "__main__":
    sys.exit(main())
