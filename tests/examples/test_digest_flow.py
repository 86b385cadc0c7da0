"""The main job on real input: the digest flow as a document and in Python, against its golden files."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from dataflow import EventKind, Flow
from tests.examples.digest_properties import EXAMPLES, GOLDENS, LIMIT, Golden, problems_of

DOCUMENT = EXAMPLES / "digest.yaml"
SCRIPT = EXAMPLES / "digest.py"
EVERY_GOLDEN = pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.name)

#: Runs the flow in a fresh process and prints its peak memory in MB and the size of the digest.
MEASURE = """
import sys
from benchmarks.memory import kilobytes
from dataflow import Flow
result = Flow.load(sys.argv[1]).run_sync(path=sys.argv[2], to=sys.argv[3])
print(kilobytes("VmHWM") // 1024, len(result["digest"]), result.status)
"""
ROOT = Path(__file__).parents[2]


@EVERY_GOLDEN
async def test_the_document_makes_the_golden_digest(golden: Golden, tmp_path: Path) -> None:
    to = tmp_path / "digest.txt"
    result = await Flow.load(DOCUMENT).run(path=str(golden.path), to=str(to), target=golden.target)
    assert result.status == "completed"
    assert problems_of(result["digest"], golden.source, golden.target, ended_by_limit=False) == []
    assert result["digest"] == golden.digest
    assert to.read_bytes().decode() == golden.digest
    assert result.warnings == ()


@EVERY_GOLDEN
def test_the_script_makes_the_golden_digest(golden: Golden, tmp_path: Path) -> None:
    to = tmp_path / "digest.txt"
    command = [sys.executable, str(SCRIPT), str(golden.path), "--to", str(to), "--target", str(golden.target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert to.read_bytes().decode() == golden.digest
    assert done.stdout == f"{len(golden.digest)} characters after {golden.rounds} rounds, written to {to}\n"


async def test_sections_are_summarised_once_a_round_and_at_the_same_time(tmp_path: Path) -> None:
    golden = GOLDENS[2]
    flow = Flow.load(DOCUMENT)
    sections: dict[str, int] = {}
    firings: Counter[str] = Counter()
    most_at_once = running = 0
    async with flow.start(path=str(golden.path), to=str(tmp_path / "to"), target=golden.target) as run:
        async for event in run.events():
            round_ = event.path.partition("/")[0]
            if event.kind is EventKind.MAP_OPENED:
                sections[round_] = event.data["items"]
            if re.fullmatch(r"refine\[\d+\]/brief\[\d+\]", event.path):
                if event.kind is EventKind.NODE_STARTED:
                    firings[round_] += 1
                    running += 1
                    most_at_once = max(most_at_once, running)
                elif event.kind is EventKind.NODE_FINISHED:
                    running -= 1
    assert len(sections) == golden.rounds >= 2
    assert firings == sections
    assert most_at_once > 1


async def test_at_the_limit_the_last_text_stands_with_a_warning(tmp_path: Path) -> None:
    golden = GOLDENS[0]
    result = await Flow.load(DOCUMENT).run(path=str(golden.path), to=str(tmp_path / "to"), target=1)
    assert result.status == "completed"
    assert problems_of(result["digest"], golden.source, 1, ended_by_limit=True) == []
    assert [path for path in result.states if path.endswith("/grade")] == [
        f"refine[{round_}]/grade" for round_ in range(LIMIT)
    ]
    [warning] = result.warnings
    assert warning.startswith("DF0834 refine: ended at its limit of 5 rounds")


def called(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], capture_output=True, encoding="utf-8", check=False)


def test_a_missing_file_is_reported_by_command_line_and_script(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere.txt")
    done = called("-m", "dataflow.cli", "run", str(DOCUMENT), "--input", f"path={nowhere}")
    assert done.returncode == 1
    assert "failed: page: FileNotFoundError" in done.stderr
    assert "nowhere.txt" in done.stderr
    assert "Traceback" not in done.stderr
    done = called(str(SCRIPT), nowhere)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "nowhere.txt" in done.stderr


@pytest.mark.timeout(900)  # of which each is read and cut whole
@pytest.mark.parametrize("shape", ["markdown", "prose", "one section"])
def test_twenty_megabytes_take_less_than_a_gigabyte(shape: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(_large(shape), encoding="utf-8")
    command = [sys.executable, "-c", MEASURE, str(DOCUMENT), str(page), str(tmp_path / "to")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    peak, size, status = done.stdout.split()
    assert status == "completed"
    assert int(size) > 0
    assert int(peak) < 1000


def _large(shape: str) -> str:
    sentence = "The {0} tide of März rises over the старый harbour wall {0} times. "
    sentences = [sentence.format(number) for number in range(20_000_000 // len(sentence.encode()))]
    size = {"markdown": 100, "prose": 20, "one section": len(sentences)}[shape]
    parts = ["".join(sentences[start : start + size]) for start in range(0, len(sentences), size)]
    if shape == "markdown":
        parts = [f"## Part {number}\n\n{part}" for number, part in enumerate(parts)]
    return "\n\n".join(parts)
