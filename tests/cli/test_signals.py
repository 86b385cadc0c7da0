from __future__ import annotations

import os
import signal
import threading
from typing import NoReturn

import pytest

from dataflow.cli import signals as module
from dataflow.cli.signals import Interrupts
from tests.cli.conftest import Cli


class Ended(BaseException):
    """The process would have ended here."""


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect the exit codes of what would have ended the process."""
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
    """Collect exit codes, and say when there is one."""
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
