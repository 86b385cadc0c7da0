"""Ctrl-C and SIGTERM: the first cancels the run, the second ends the process at once (S9.6).

A handler of the event loop would not be called while a node blocks the loop; Python's own handlers are, or a
thread stands in for them. A run that has not ended some seconds after the first signal is not awaited any
longer.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Final, Self

from dataflow.base.wording import visible
from dataflow.cli.exits import Interrupted, code_of_signal
from dataflow.cli.forked import leave_in_forked
from dataflow.cli.hearing import Hearing
from dataflow.cli.streams import shout

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

    `owns_process`: the command is all that the process is there for, so its end may be enforced. Processes
    that are forked off it have the signals as they were.
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
        self._hearing: Hearing | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = [(number, signal.signal(number, self._catch)) for number in SIGNALS]
            if self._owns_process:
                self._hearing = Hearing(self._catch, self._hear, self._lose_patience, PATIENCE)
                leave_in_forked(SIGNALS, self._leave)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before:
            signal.signal(number, handler)  # type: ignore[arg-type]  # what `signal` returned
        self._before = []

    @contextmanager
    def held(self) -> Iterator[None]:
        """Note the first signal instead of raising, while the block runs an event loop."""
        with self._hearing or nullcontext():
            self._is_held = True
            try:
                yield
            finally:
                self._is_held, self._wake = False, None

    def on_signal(self, wake: Callable[[], None]) -> None:
        """Call `wake`, which must be safe to call anywhere, at the first signal, or now if it has come."""
        self._wake = wake
        if self.caught is not None:
            wake()

    def run_ended(self) -> None:
        """Note that there is nothing left to cancel."""
        self._is_over = True

    def told(self, code: int) -> None:
        """Note that how the run ended is told: the process may end, whatever threads still run."""
        if self._owns_process:
            timer = threading.Timer(GRACE, os._exit, (code,))
            timer.daemon = True
            timer.start()

    def _leave(self) -> None:
        """Give the signals back that no code of the flow has taken, in a process that was forked off."""
        if self._hearing is not None:
            self._hearing.leave()
        for number, handler in self._before:
            if signal.getsignal(number) == self._catch:
                signal.signal(number, handler)  # type: ignore[arg-type]  # as above
        self._before = []

    def _catch(self, number: int, _: FrameType | None) -> None:
        if self._hearing is None or self._hearing.handled():
            self._hear(number)
            if not self._is_held:
                raise Interrupted(number)

    def _hear(self, number: int) -> None:
        if self.caught is not None or self._is_over:
            self._end_now(number, "ended at once")
        self.caught = number
        if self._wake is not None:  # first, before the run hears of programs that the signal has ended, too
            self._wake()
        if self._is_held and not self.is_live:
            shout("cancelling; once more ends at once")

    def _lose_patience(self) -> None:
        if self._is_held and not self._is_over and self.caught is not None:
            self._end_now(self.caught, f"ended after {PATIENCE:.0f} s")

    def _end_now(self, number: int, how: str) -> None:
        running = list(self.running())
        text = how if self._is_over else f"cancelled: {how}"
        if running:
            more = f" and {len(running) - MOST_NAMED} more" if len(running) > MOST_NAMED else ""
            text += f", without waiting for {', '.join(running[:MOST_NAMED])}{more}"
        shout((SHOW_CURSOR if self.is_live else "") + visible(text))
        os._exit(code_of_signal(number))
