from __future__ import annotations

import os
import signal
import threading
from ctypes import CDLL, create_string_buffer
from typing import NoReturn

import pytest

from dataflow.cli import signals as module
from dataflow.cli.signals import Interrupts
from tests.cli.conftest import Cli
from tests.support.steady import NO_END


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


def test_a_signal_after_the_run_ends_what_is_left(
    ended: list[int], capfd: pytest.CaptureFixture[str]
) -> None:
    with Interrupts() as interrupts, interrupts.held():
        interrupts.run_ended()
        with pytest.raises(Ended):
            signal.raise_signal(signal.SIGINT)
    assert (ended, capfd.readouterr().err) == ([130], "ended at once\n")


def test_outside_the_main_thread_signals_are_left_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    within: list[object] = []

    def look() -> None:
        with Interrupts():
            within.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert within == [before]


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


def test_a_second_signal_that_is_merged_with_the_first_ends_the_process(
    exits: tuple[list[int], threading.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The main thread is in C until both were sent, then Python calls the handler once for both."""
    codes, happened = exits
    is_cancelled = threading.Event()
    monkeypatch.setattr(module, "PATIENCE", NO_END)
    monkeypatch.setattr(module, "SLOW", 0.01)
    reading, writing = os.pipe()

    def send_twice() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        assert is_cancelled.wait(60)
        monkeypatch.setattr(module, "SLOW", 0.5)  # longer than until the main thread goes on
        os.kill(os.getpid(), signal.SIGINT)
        os.write(writing, b".")

    sender = threading.Thread(target=send_twice)
    with Interrupts(owns_process=True) as interrupts, interrupts.held():
        interrupts.on_signal(is_cancelled.set)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # other threads receive it
        sender.start()
        CDLL(None).read(reading, create_string_buffer(1), 1)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        assert happened.wait(60)
    sender.join()
    for end in (reading, writing):
        os.close(end)
    assert codes == [130]


def test_a_process_that_is_done_does_not_wait_for_threads(
    exits: tuple[list[int], threading.Event],
) -> None:
    codes, happened = exits
    Interrupts(owns_process=True).reported(1)
    assert happened.wait(60)
    assert codes == [1]


def test_a_caller_of_the_command_is_never_ended(exits: tuple[list[int], threading.Event]) -> None:
    before = set(threading.enumerate())
    with Interrupts() as interrupts, interrupts.held():
        interrupts.reported(1)
        assert set(threading.enumerate()) <= before  # one of another test may end meanwhile
