"""Signals, and runs that go on in other processes: killed, answered while executed, resumed twice."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any, NoReturn

import pytest

from dataflow.cli import signals as module
from dataflow.cli.signals import Interrupts
from tests.cli.conftest import Cli
from tests.cli.processes import EXAMPLES, dataflow, read_until, started


class Ended(BaseException):
    """The process would have ended here."""


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    codes: list[int] = []

    def end(code: int) -> NoReturn:
        codes.append(code)
        raise Ended

    monkeypatch.setattr(os, "_exit", end)
    return codes


@pytest.mark.parametrize(("number", "code"), [("2", 130), ("15", 143)])
def test_a_signal_cancels_the_run(cli: Cli, number: str, code: int) -> None:
    done = cli("run", ":interrupts", "--json", "--input", f"x={number}")
    assert (done.code, done.json["status"]) == (code, "cancelled")
    assert done.last == "cancelled"


def test_a_second_signal_ends_the_process_at_once(
    ended: list[int], capfd: pytest.CaptureFixture[str]
) -> None:
    with Interrupts() as interrupts, interrupts.held():
        interrupts.running = lambda: ["a", "b\x1b", "c", "d", "e"]
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(Ended):
            signal.raise_signal(signal.SIGTERM)
    assert ended == [143]
    assert capfd.readouterr().err == (
        "cancelling; once more ends at once\n"
        "cancelled: ended at once, without waiting for a, b\\x1b, c and 2 more\n"
    )


def test_a_signal_that_came_before_the_run_cancels_it_at_once() -> None:
    woken = []
    with Interrupts() as interrupts, interrupts.held():
        signal.raise_signal(signal.SIGINT)
        interrupts.on_signal(lambda: woken.append(1))
    assert woken == [1]


@pytest.fixture
def exits(monkeypatch: pytest.MonkeyPatch) -> tuple[list[int], threading.Event]:
    codes: list[int] = []
    happened = threading.Event()

    def end(code: int) -> None:
        codes.append(code)
        happened.set()

    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(module, "PATIENCE", 1.0)  # longer than until a thread stands in for a handler
    monkeypatch.setattr(module, "GRACE", 0.01)
    return codes, happened


def test_a_run_that_does_not_end_is_not_awaited_for_ever(
    exits: tuple[list[int], threading.Event],
) -> None:
    codes, happened = exits
    with Interrupts(owns_process=True) as interrupts, interrupts.held():
        signal.raise_signal(signal.SIGTERM)
        assert happened.wait(60)
    assert codes == [143]


def test_a_process_that_is_done_does_not_wait_for_threads(
    exits: tuple[list[int], threading.Event],
) -> None:
    codes, happened = exits
    Interrupts(owns_process=True).reported(1)
    assert happened.wait(60)
    assert codes == [1]


#: The event that a node has begun that never ends. What is told is in the store.
WAITING = '"path": "once"'


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
