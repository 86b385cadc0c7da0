"""Fuzz a loader: whatever stands in a file, it becomes a flow or a clear error with its place.

`python -m tests.properties.fuzz_native [--format cagent] [--seconds 15] [--seed 1]` spoils real documents, or
the golden files of a foreign format, for so long and prints what came of them; it ends with 1, and with what
it takes to replay it, if anything else came of one. A flow is also checked, drawn, written and read again.
`--first N --count 1` replays input N of a seed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.memory import kilobytes
from dataflow import DataflowError, Flow, FlowInvalid, FormatError
from dataflow.formats.native.writer import dump, dump_yaml
from dataflow.formats.reader import read
from dataflow.inspection.drawing import dot, mermaid, outline
from dataflow.loading import read_document
from tests.nodes.formats.golden import FILES
from tests.properties.effort import in_part
from tests.properties.mutating import spoilt

if TYPE_CHECKING:
    from types import FrameType

    from dataflow.core.wiring import Wiring

#: So many seconds of the processor one input may take, so many kB the process may grow once it is warm.
MOST_SECONDS: Final = 20.0
MOST_GROWTH: Final = 300_000
WARM: Final = 500
#: So many characters the text of an error has at most.
MOST_SHOWN: Final = 1_000

_PLACE: Final = re.compile(r"(?:^|:)\d+:\d+[: ]")
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


class TooSlowError(BaseException):
    """What ends an input that takes too long."""


@dataclass
class Report:
    """What came of the inputs; `failure` tells all of the first that nothing good came of."""

    tried: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failure: str = ""


def examine(path: Path, *, imports: bool) -> list[str]:
    """Read a file and do with it what can be done without a run; return its problems.

    Raises DataflowError for what is no flow document.
    """
    flow = Flow.from_wiring(*read_document(path, Flow.from_wiring, imports=imports))
    problems = [str(problem) for problem in flow.check()]
    for problem in problems:
        assert not _UNSEEN.search(problem), f"it could steer a terminal: {problem!r}"
        assert _PLACE.search(problem), f"no place: {problem!r}"
    for draw in (outline, mermaid, dot):
        assert not _UNSEEN.search(draw(flow.wiring).replace("\n", ""))
    _write_and_read(flow.wiring, path, may_refuse=bool(problems))
    return problems


def _write_and_read(wiring: Wiring, path: Path, *, may_refuse: bool) -> None:
    """Write what was read, and read that; a flow in a flow that has problems itself cannot be written."""
    try:
        written = dump(wiring)
    except FlowInvalid:
        if may_refuse:
            return
        raise
    again = path.with_name(f"again{path.suffix}")
    again.write_text(json.dumps(written) if path.suffix == ".json" else dump_yaml(wiring), "utf-8")
    reread, *_ = read_document(again, Flow.from_wiring, imports=False)
    assert json.dumps(dump(reread)) == json.dumps(written), "it is read again as another flow"


def refused(error: DataflowError) -> list[str]:
    """Return the problems that an error tells; each has its place."""
    text = str(error)
    assert not _UNSEEN.search(text.replace("\n", "")), f"it could steer a terminal: {text!r}"
    match error:
        case FlowInvalid():
            assert error.problems, "it tells no problem"
            assert all(_PLACE.search(str(problem)) for problem in error.problems), f"no place: {text}"
            return [str(problem) for problem in error.problems]
        case FormatError():
            assert min(error.line or 0, error.column or 0) >= 1, f"no place: {text}"
            assert len(text) < MOST_SHOWN, f"too long: {text}"
            return [text]
        case _:
            raise error


def fuzz(
    seed: int,
    numbers: Iterator[int],
    folder: Path,
    examine: Callable[..., list[str]] = examine,
    documents: Sequence[Any] = (),
) -> Report:
    """Try the inputs of these numbers, native ones unless documents are given, until one fails."""
    report = Report()
    warm = 0
    for number in numbers:
        chance = random.Random(f"{seed}/{number}")
        name, text = spoilt(chance, documents)
        (folder / name).write_bytes(text.encode(errors="surrogatepass"))
        try:
            with _bounded():
                _try(folder / name, report, examine, imports=chance.random() < 0.5)
            if warm:
                grown = kilobytes("VmHWM") - warm
                assert grown < MOST_GROWTH, f"the process has grown by {grown:,} kB"
        except (Exception, TooSlowError):  # noqa: BLE001 - it is told, whatever it is
            shown = text if len(text) < 20_000 else f"{text[:20_000]}... ({len(text):,} characters)"
            place = f"seed {seed}, input {number}, {name}:\n{shown!r}"
            report.failure = f"{place}\n{traceback.format_exc()}"
            break
        report.tried += 1
        if report.tried == WARM:
            warm = _forget_peak()
    return report


def _try(path: Path, report: Report, examine: Callable[..., list[str]], *, imports: bool) -> None:
    try:
        problems = examine(path, imports=imports)
    except DataflowError as error:
        refused(error)
        outcome = f"refused with {type(error).__name__}"
    else:
        outcome = "loaded, with problems" if problems else "loaded, and fit to run"
    report.outcomes[outcome] += 1


def files_of(format: str) -> list[Any]:
    """Return the golden files of a format as plain data, without those that they convert to."""
    paths = [path for path in FILES.values() if path.parent.name == format]
    return [read(path.read_text("utf-8"), path.name, takes_words=True)[0] for path in paths]


@contextmanager
def _bounded() -> Iterator[None]:
    """Raise TooSlowError in what takes more of the processor than one input may."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise TooSlowError(f"took more than {MOST_SECONDS:g} s")

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _forget_peak() -> int:
    """Let the peak of the process begin anew, and return it in kB."""
    Path("/proc/self/clear_refs").write_text("5")
    return kilobytes("VmHWM")


def main() -> int:
    """Fuzz for a while and print what came of it; 1 if something bad did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--format")
    parser.add_argument("--seconds", type=float, default=in_part(60))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int)
    given = parser.parse_args()
    end = time.monotonic() + given.seconds
    numbers = itertools.islice(itertools.count(given.first), given.count)
    running = takewhile(lambda _: time.monotonic() < end, numbers)
    documents = files_of(given.format) if given.format else ()
    with tempfile.TemporaryDirectory() as folder:
        report = fuzz(given.seed, running, Path(folder), documents=documents)
    lines = [f"{report.tried:8}  inputs of seed {given.seed}"]
    lines += [f"{count:8}  {name}" for name, count in sorted(report.outcomes.items())]
    lines += ["", f"FAILED: {report.failure}"] if report.failure else []
    print("\n".join(lines))  # noqa: T201 - it prints its figures
    return int(bool(report.failure))


if __name__ == "__main__":
    sys.exit(main())
