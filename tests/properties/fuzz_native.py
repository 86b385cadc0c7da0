"""Fuzz a loader: whatever stands in a file, it becomes a flow or a clear error with its place.

`python -m tests.properties.fuzz_native [--format cagent] [--seconds 15] [--seed 1]` spoils real documents, or
the golden files of a foreign format, for so long and prints what came of them; it ends with 1, and with what
it takes to replay it, if anything else came of one. A flow is also checked, drawn, written and read again.
`--first N --count 1` replays input N of a seed."""

from __future__ import annotations

import argparse
import ast
import copy
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
from functools import cache, partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.memory import kilobytes
from dataflow import DataflowError, Flow, FlowInvalid, FormatError
from dataflow.formats.native.writer import dump, dump_yaml
from dataflow.formats.reader import read
from dataflow.formats.writer import write_yaml
from dataflow.inspection.drawing import dot, mermaid, outline
from dataflow.loading import read_document
from tests.nodes.formats.golden import FILES
from tests.properties.effort import in_part
from tests.properties.random_flows import sample

if TYPE_CHECKING:
    from types import FrameType

    from dataflow.core.wiring import Wiring


ROOT: Final = Path(__file__).parents[2]
FROM_GRAMMAR: Final = 60
LARGE: Final = 150  # of so many inputs one is large

WORDS: Final = r"""
{ } [ ] : , - # ' " | > |2- ? &a *a ! !!str !!int !!python/none !x --- ... \ \u \ud800 <<: null ~ true on .nan
1e999 -0 0x é 🙂 {value:1} loop: map: flow: each: nodes: edges: $in $in.x $carry.c $item.x out $done $error
type: dataflow: %YAML
"""
# fmt: off
FRAGMENTS: Final = [
    *WORDS.split(),
    ": ", "- ", " #", "? ", "\n", "\n  ", "\n---\n", "%YAML 1.1\n---\n", "\t", "\r", "\r\n", "\x00",
    "\x1b[2J", "\x85", "\u2028", "\ufeff", "\ud800", "\u202e", "9" * 1001, "[" * 120, "{a: " * 120,
    "&a [*a]", "(" * 30,
]
# fmt: on
#: Names that something is called by, or that steer what reads them.
REFERENCES: Final = """
$in $carry $item out $done $error $after . .. / a.b a/b a[0] ~ % %41 %zz ' " ` é 节点 ჯ null true 1 1.5 on
type loop value --> "]; __class__
"""
# fmt: off
NAMES: Final = [
    *REFERENCES.split(),
    "", " ", "\n", "\x00", "\x1b[2J", "\u202ea", "e\u0301", "👩\u200d🚀", "\u2028", "{{ x }}", "a" * 300,
]
VALUES: Final[list[Any]] = [
    None, True, False, 0, 1, -1, 2**70, 10**400, 1.5, float("inf"), float("nan"), "", "x", "$in.x",
    "a.b.c", "os:path", [], {}, [[]], {"value": 1}, {"": 1}, {"each": "$in.xs"}, {"merge": []},
    {"type": "t.apply"}, {"$ref": "#"},
    {"anyOf": [{"type": "string"}, {"pattern": "(a+)+$", "type": "string"}]},
    {"loop": {}}, {"map": {"over": {"x": {"value": [1]}}}}, {"flow": {"dataflow": 1}}, {"flow": "flow.yaml"},
    "value > 1 and", "value.a[0] == 'x'", "9 ** 9 ** 9", "m:f", "flow.json", "../flow.yaml", "\x1b]0;x\x07",
]
# fmt: on


@cache
def corpus() -> tuple[dict[str, Any], ...]:
    """Return real documents as plain data: of the docs, the tests and the grammar of random flows."""
    found = [(text, read(text, "flow.yaml")[0]) for text in _texts() if _is_document(text)]
    return (*(data for _, data in found), *(sample(seed).document for seed in range(FROM_GRAMMAR)))


def _is_document(text: str) -> bool:
    try:
        return isinstance(read(text, "flow.yaml")[0], dict)
    except DataflowError:
        return False


def _texts() -> Iterator[str]:
    """List what may be a document: files, blocks of the docs, and constants of the tests."""
    for path in sorted((ROOT / "docs").rglob("*.yaml")):
        yield path.read_text("utf-8")
    for path in sorted((ROOT / "docs").rglob("*.md")):
        yield from re.findall(r"```yaml\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
    for path in sorted((ROOT / "tests").rglob("*.py")):
        text = path.read_text("utf-8")
        if "dataflow: 1" in text:
            for node in ast.walk(ast.parse(text)):
                if (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and "dataflow: 1" in node.value
                ):
                    yield node.value


def spoilt(chance: random.Random, documents: Sequence[Any] = ()) -> tuple[str, str]:
    """Make one input of documents, native ones unless others are given: the name of a file and its text."""
    documents = documents or corpus()
    data = copy.deepcopy(chance.choice(documents))
    splice = partial(_splice, documents=documents)
    for change in chance.choices((_reshape, _rename, splice), k=chance.choice((0, 0, 1, 1, 1, 3))):
        change(data, chance)
    if chance.randrange(LARGE) == 0:
        _enlarge(data, chance)
    name = chance.choice(("flow.yaml", "flow.json"))
    text = _written(data, name)
    if chance.random() < 0.4:
        text = _garbled(text, chance)
    return name, text


def _written(data: Any, name: str) -> str:
    return json.dumps(data, ensure_ascii=False) if name == "flow.json" else write_yaml(data)


def _garbled(text: str, chance: random.Random) -> str:
    """Take characters out and put others in, or repeat a piece, here and there."""
    for _ in range(chance.choice((1, 1, 2, 5))):
        start = chance.randrange(len(text) + 1)
        end = start + chance.choice((0, 0, 1, 3, 20))
        other = chance.choice((*FRAGMENTS, text[start:end] * 3, text[start : start + 80]))
        text = text[:start] + other + text[end:]
    return text


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """List every place in a value: the container, and the key or index."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        container = waiting.pop()
        for step, item in list(container.items() if isinstance(container, dict) else enumerate(container)):
            found.append((container, step))
            if isinstance(item, dict | list):
                waiting.append(item)
    return found


def _reshape(data: Any, chance: random.Random) -> None:
    """Put something else into a place, or add an entry that does not belong there."""
    places = places_in(data)
    if not places:
        return
    container, step = chance.choice(places)
    put = copy.deepcopy(chance.choice(VALUES))
    if isinstance(container, dict) and chance.random() < 0.4:
        container[chance.choice(NAMES)] = put
    elif chance.random() < 0.2:
        del container[step]
    else:
        container[step] = put


def _rename(data: Any, chance: random.Random) -> None:
    """Give a name another one wherever it stands, in keys and in references."""
    names = [step for _, step in places_in(data) if isinstance(step, str) and step]
    if not names:
        return
    old, new = chance.choice(names), chance.choice(NAMES)
    for container, step in reversed(places_in(data)):
        if isinstance(container, dict) and step not in container:
            continue  # it has been renamed over
        item = container[step]
        if isinstance(item, str) and old in item:
            container[step] = item.replace(old, new)
        if step == old and isinstance(container, dict):
            container[new] = container.pop(old)


def _splice(data: Any, chance: random.Random, documents: Sequence[Any]) -> None:
    """Put a part of another document into a place of this one."""
    others, places = places_in(chance.choice(documents)), places_in(data)
    if others and places:
        (source, key), (container, step) = chance.choice(others), chance.choice(places)
        container[step] = copy.deepcopy(source[key])


def _enlarge(data: Any, chance: random.Random) -> None:
    """Make it long, deep or wide."""
    nodes = data.setdefault("nodes", {})
    ways: tuple[Callable[[], dict[str, Any]], ...] = (
        lambda: {f"n{n}": {"type": "t.apply", "inputs": {"x": f"n{n - 1}"}} for n in range(2_000)},
        lambda: {"m" * 100_000: {"type": "t" * 100_000, "inputs": {"x": "y" * 100_000}}},
        lambda: {"m": {"type": "t.apply", "inputs": {f"p{n}": "$in.x" for n in range(2_000)}}},
        lambda: {
            f"m{n}": {"map": {"over": {"x": {"value": []}}, "nodes": {"a": {"type": "t"}}}}
            for n in range(500)
        },
        lambda: _nested(chance.randrange(1, 40), chance.choice(("map", "loop", "flow"))),
    )
    if isinstance(nodes, dict):
        nodes |= chance.choice(ways)()


def _nested(levels: int, kind: str) -> dict[str, Any]:
    around: dict[str, Any] = {
        "map": {"over": {"x": {"value": [1]}}},
        "loop": {"limit": 1},
        "flow": {"dataflow": 1},
    }
    nodes: dict[str, Any] = {"a": {"type": "t.apply", "values": {"x": 1}}}
    for level in range(levels):
        nodes = {f"n{level}": {kind: {**around[kind], "nodes": nodes}}}
    return nodes


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
            Path("/proc/self/clear_refs").write_text("5")  # the peak of the process begins anew
    warm = kilobytes("VmHWM")
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
