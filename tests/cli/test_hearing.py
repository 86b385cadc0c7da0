from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from dataflow.cli import hearing as module
from dataflow.cli.hearing import Hearing

FORKED = """
import os
from dataflow.cli.hearing import Hearing

hearing = Hearing(print, print, print, 1.0)
with hearing:
    forked = os.fork()
    if not forked:
        hearing.leave()
if forked:
    print(os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]))
"""


class Heard:
    """A handler of SIGUSR1, which may be as silent as one that is not called, and what stands in for it."""

    def __init__(self, *, is_called: bool) -> None:
        self.called: list[str] = []
        self.given_up = threading.Event()
        self.hearing = Hearing(self.handle, self.stand_in, self.given_up.set, 0.1)
        self._is_called = is_called

    def handle(self, *_: object) -> None:
        if self._is_called and self.hearing.handled():
            self.called.append("handler")

    def stand_in(self, number: int) -> None:
        self.called.append(signal.Signals(number).name)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLOW", 0.01)


def signals_to(handler: object, hearing: Hearing, given_up: threading.Event) -> None:
    before = signal.signal(signal.SIGUSR1, handler)  # type: ignore[arg-type]  # some handler
    try:
        with hearing:
            signal.raise_signal(signal.SIGUSR1)
            assert given_up.wait(60)
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize(("is_called", "called"), [(True, "handler"), (False, "SIGUSR1")])
def test_a_handler_is_stood_in_for_if_it_is_not_called(is_called: bool, called: str) -> None:
    heard = Heard(is_called=is_called)
    signals_to(heard.handle, heard.hearing, heard.given_up)
    assert heard.called == [called]


def test_a_handler_that_is_called_late_is_told_so() -> None:
    heard = Heard(is_called=False)
    signals_to(heard.handle, heard.hearing, heard.given_up)
    with heard.hearing:
        assert [heard.hearing.handled() for _ in range(2)] == [False, True]


def test_signals_of_other_handlers_are_theirs() -> None:
    heard = Heard(is_called=True)

    def other(*_: object) -> None:
        heard.hearing.handled()  # as a handler that passes it on

    signals_to(other, heard.hearing, heard.given_up)
    assert heard.called == []


def test_a_forked_process_leaves_the_block() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n", "")
