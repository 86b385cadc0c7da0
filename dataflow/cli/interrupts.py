"""Ctrl-C and SIGTERM: the first cancels the run, the second ends the process at once (S9.6).

A handler of the event loop would not be called while a node blocks the loop; Python's own handlers are.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, Self

from dataflow.cli.exits import Interrupted, code_of_signal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

__all__ = ["SIGNALS", "Interrupts"]

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
SHOW_CURSOR: Final = "\x1b[?25h"


class Interrupts:
    """What the two signals do while the block runs. Elsewhere than in the main thread they stay as they are."""

    def __init__(self) -> None:
        self.caught: int | None = None  # the first signal
        self.is_live = False  # the cursor is hidden, and the tree tells what was caught
        self._cancel: Callable[[], None] | None = None  # None: there is nothing to cancel, so the signal raises
        self._before: list[tuple[int, object]] = []

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = [(number, signal.signal(number, self._catch)) for number in SIGNALS]
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before:
            signal.signal(number, handler)  # type: ignore[arg-type]  # what `signal` returned

    @contextmanager
    def cancelling(self, cancel: Callable[[], None]) -> Iterator[None]:
        """Call `cancel` at the first signal that comes while the block runs."""
        self._cancel = cancel
        try:
            yield
        finally:
            self._cancel = None

    def _catch(self, number: int, _: FrameType | None) -> None:
        if self.caught is not None:
            self._end_at_once(number)
        self.caught = number
        if self._cancel is None:
            raise Interrupted(number)
        if not self.is_live:
            _say("cancelling; once more ends at once")
        self._cancel()

    def _end_at_once(self, number: int) -> None:
        _say((SHOW_CURSOR if self.is_live else "") + "cancelled: ended at once, what still ran was not awaited")
        os._exit(code_of_signal(number))


def _say(text: str) -> None:
    """Write to standard error as a signal handler may, past the buffer that it may have interrupted."""
    with suppress(OSError):
        os.write(2, f"{text}\n".encode())
