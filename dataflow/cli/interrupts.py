"""Ctrl-C and SIGTERM: the first cancels the run, the second ends the process at once (S9.6).

A handler of the event loop would not be called while a node blocks the loop; Python's own handlers are. A
run that has not ended some seconds after the first signal is not awaited any longer.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Self

from dataflow.cli.exits import Interrupted, code_of_signal
from dataflow.cli.streams import shout
from dataflow.wording import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

__all__ = ["Interrupts"]

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
SHOW_CURSOR: Final = "\x1b[?25h"
PATIENCE: Final = 5.0  # seconds that a cancelled run has for its clean-up
GRACE: Final = 1.0  # seconds that threads which cannot be ended hold up a process that is done
MOST_NAMED: Final = 3


class Interrupts:
    """What the two signals do while the block runs; outside the main thread they stay as they are.

    `owns_process`: the command is all that the process is there for, so its end may be enforced.
    """

    def __init__(self, *, owns_process: bool = False) -> None:
        self.caught: int | None = None  # the first signal
        self.is_live = False  # the cursor is hidden, and the tree tells that the run is being cancelled
        self.running: Callable[[], Sequence[str]] = tuple  # the paths of what is running
        self._owns_process = owns_process
        self._is_held = False  # the event loop runs, so a signal is noted and does not raise
        self._is_over = False  # the run has ended
        self._wake: Callable[[], None] | None = None  # cancels the run, once there is one
        self._before: list[tuple[int, object]] = []
        self._noted, self._ended = threading.Event(), threading.Event()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = [(number, signal.signal(number, self._catch)) for number in SIGNALS]
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before:
            signal.signal(number, handler)  # type: ignore[arg-type]  # what `signal` returned

    @contextmanager
    def held(self) -> Iterator[None]:
        """Note the first signal instead of raising, while the block runs an event loop."""
        self._is_held = True
        if self._owns_process:  # a thread, for the loop may be blocked; now, for a handler may start none
            threading.Thread(target=self._wait_for_end, daemon=True, name="dataflow patience").start()
        try:
            yield
        finally:
            self._is_held, self._wake = False, None
            self._ended.set()
            self._noted.set()

    def on_signal(self, wake: Callable[[], None]) -> None:
        """Call `wake`, which must be safe to call anywhere, at the first signal, or now if it has come."""
        self._wake = wake
        if self.caught is not None:
            wake()

    def run_ended(self) -> None:
        """Note that there is nothing left to cancel."""
        self._is_over = True
        self._ended.set()

    def told(self, code: int) -> None:
        """Note that how the run ended is told: the process may end, whatever threads still run."""
        if self._owns_process:
            timer = threading.Timer(GRACE, os._exit, (code,))
            timer.daemon = True
            timer.start()

    def _catch(self, number: int, _: FrameType | None) -> None:
        if self.caught is not None or self._is_over:
            self._end_now(number, "ended at once")
        self.caught = number
        if not self._is_held:
            raise Interrupted(number)
        self._noted.set()
        if not self.is_live:
            shout("cancelling; once more ends at once")
        if self._wake is not None:
            self._wake()

    def _wait_for_end(self) -> None:
        self._noted.wait()
        if not self._ended.wait(PATIENCE) and self.caught is not None:
            self._end_now(self.caught, f"ended after {PATIENCE:.0f} s")

    def _end_now(self, number: int, how: str) -> None:
        running = list(self.running())
        text = how if self._is_over else f"cancelled: {how}"
        if running:
            more = f" and {len(running) - MOST_NAMED} more" if len(running) > MOST_NAMED else ""
            text += f", without waiting for {', '.join(running[:MOST_NAMED])}{more}"
        shout((SHOW_CURSOR if self.is_live else "") + visible(text))
        os._exit(code_of_signal(number))
