"""The approval of docs/examples: it pauses in one process and ends in another, also after a kill."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Final

import pytest

from tests.cli.processes import dataflow, read_until, started

EXAMPLE: Final = Path(__file__).parents[2] / "docs" / "examples" / "release.yaml"
APPROVED: Final = 'review/ask={"decision": "approve", "note": "fine"}'
#: A node that keeps the process alive while the ask is open, for longer than it takes to be killed.
SLOW: Final = "  slow:   {type: control.delay, config: {seconds: 5}, inputs: {value: text}}\n  review:"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "draft.txt").write_text("News.", "utf-8")
    return tmp_path


def run_in_the_store() -> dict[str, str]:
    [run] = json.loads(dataflow("runs", "--json").stdout)["runs"]
    assert isinstance(run, dict)
    return run


def test_it_pauses_in_one_process_and_ends_in_another(folder: Path) -> None:
    assert dataflow("run", str(EXAMPLE), "--input", "draft=draft.txt").returncode == 3
    assert not (folder / "release.txt").exists()
    resumed = dataflow("resume", run_in_the_store()["run"], APPROVED)
    assert (resumed.returncode, resumed.stdout) == (0, "released: release.txt\nnote: fine\n")
    assert (folder / "release.txt").read_text("utf-8") == "News."


def test_it_ends_in_another_process_after_a_kill(folder: Path) -> None:
    slow = folder / "release.yaml"
    slow.write_text(EXAMPLE.read_text("utf-8").replace("  review:", SLOW), "utf-8")
    with started("run", "release.yaml", "--input", "draft=draft.txt", "--events") as process:
        read_until(process.stdout, '"ask_opened"')
        process.send_signal(signal.SIGKILL)
        process.wait()
    run = run_in_the_store()
    assert run["status"] == "interrupted"
    resumed = dataflow("resume", run["run"], APPROVED)
    assert (resumed.returncode, resumed.stdout) == (0, "released: release.txt\nnote: fine\n")
