"""Runs that go on in other processes: paused, killed, answered while executed, resumed twice at once."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

from tests.cli.processes import COMMAND, EXAMPLES, environment, read_until, started

#: The event that a node has begun that never ends. What is told is in the store.
WAITING = '"path": "once"'


def dataflow(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], check=False, encoding="utf-8", env=environment(), capture_output=True
    )


def runs() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(dataflow("runs", "--json").stdout)["runs"]
    return found


def test_a_run_that_was_killed_is_interrupted_can_be_cancelled_and_goes_on() -> None:
    with started("run", f"{EXAMPLES}:killed", "--events") as process:
        read_until(process.stdout, WAITING)
        read_until(process.stderr, "begun")
        assert [run["status"] for run in runs()] == ["running"]
        process.send_signal(signal.SIGKILL)
        process.wait()
    (run,) = runs()
    assert run["status"] == "interrupted"
    shown = dataflow("runs", "show", run["run"]).stdout
    assert [line.split()[:2] for line in shown.splitlines()[-2:]] == [
        ["hello", "done"],
        ["once", "interrupted"],
    ]
    assert dataflow("cancel", run["run"]).returncode == 0
    nodes = json.loads(dataflow("runs", "show", run["run"], "--json").stdout)["nodes"]
    assert [(node["path"], node["state"]) for node in nodes] == [("hello", "done"), ("once", "cancelled")]
    resumed = dataflow("resume", run["run"])
    assert (resumed.returncode, resumed.stdout) == (0, "out: hello Ada\n")
    assert [line.split()[1] for line in resumed.stderr.splitlines()[:-1]] == ["once"]


def test_a_run_that_is_executed_takes_answers_and_is_neither_resumed_nor_cancelled_nor_deleted() -> None:
    with started("run", f"{EXAMPLES}:waiting") as process:
        read_until(process.stdout, "begun")
        (run,) = runs()
        answered = dataflow("answer", run["run"], "word=ahoi")
        assert answered.stderr.splitlines() == [
            "answered word",
            f"run {run['run']} is being executed: it takes that when its next step is written",
        ]
        cancelled = dataflow("cancel", run["run"])
        assert cancelled.returncode == 1
        assert f"DF1431 run {run['run']}: " in cancelled.stderr
        for command in ("resume", "runs delete"):
            done = dataflow(*command.split(), run["run"])
            assert done.returncode == 1
            assert f"run {run['run']}: " in done.stderr
        Path("there").touch()
        out, _ = process.communicate()
    assert (process.returncode, out) == (0, "word: AHOI\nother: 1\n")
