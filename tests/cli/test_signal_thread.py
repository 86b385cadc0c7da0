from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from dataflow.cli.signals import SignalThread


class Heard:
    """A handler of SIGUSR1, which may be as silent as one that is not called, and what stands in for it."""

    def __init__(self, *, is_called: bool) -> None:
        self.called: list[str] = []
        self.given_up = threading.Event()
        self.thread = SignalThread(self.handle, self.stand_in, self.given_up.set, 1.0)
        self._is_called = is_called

    def handle(self, *_: object) -> None:
        if self._is_called and self.thread.handled():
            self.called.append("handler")

    def stand_in(self, number: int) -> None:
        self.called.append(signal.Signals(number).name)


@contextmanager
def handling(number: signal.Signals, handler: Callable[..., None]) -> Iterator[None]:
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def signal_to(heard: Heard) -> None:
    """Send a signal, and wait until nothing more comes of it."""
    with handling(signal.SIGUSR1, heard.handle), heard.thread:
        signal.raise_signal(signal.SIGUSR1)
        assert heard.given_up.wait(60)


@pytest.mark.parametrize(("is_called", "called"), [(True, "handler"), (False, "SIGUSR1")])
def test_a_handler_is_stood_in_for_if_it_is_not_called(is_called: bool, called: str) -> None:
    heard = Heard(is_called=is_called)
    signal_to(heard)
    assert heard.called == [called]


def test_signals_of_other_handlers_are_theirs() -> None:
    heard = Heard(is_called=False)
    with handling(signal.SIGUSR2, lambda *_: None), handling(signal.SIGUSR1, heard.handle), heard.thread:
        signal.raise_signal(signal.SIGUSR2)
        signal.raise_signal(signal.SIGUSR1)
        assert heard.given_up.wait(60)
    assert heard.called == ["SIGUSR1"]


def test_a_call_of_the_handler_is_for_all_signals_before() -> None:
    heard = Heard(is_called=False)
    with handling(signal.SIGUSR1, heard.handle), heard.thread:
        for _ in range(3):
            signal.raise_signal(signal.SIGUSR1)
        assert heard.thread.handled()
        assert heard.given_up.wait(60)
    assert heard.called == []
