"""Ctrl-C and SIGTERM: the first cancels the run, the second ends the process at once (S9.6).

Python calls its handlers in the main thread, between two of its instructions: not while a node is in a long
call there, and not if the signal comes just before one. So a thread hears what comes, of a descriptor that
the signals themselves write to. A run that has not ended some seconds after the first is not awaited any
longer.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Final, Self

from dataflow.cli.exits import Interrupted, code_of_signal
from dataflow.cli.forked import leave_in_forked
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
NO_DESCRIPTOR: Final = -1
NO_MORE: Final = 0  # among the numbers of signals


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
        self._heard = NO_DESCRIPTOR  # what signals are written to, while a thread hears them
        self._wake: Callable[[], None] | None = None  # cancels the run, once there is one
        self._before: list[tuple[int, object]] = []

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = [(number, signal.signal(number, self._catch)) for number in SIGNALS]
            if self._owns_process:
                leave_in_forked(SIGNALS, self._leave)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before:
            signal.signal(number, handler)  # type: ignore[arg-type]  # what `signal` returned
        self._before = []

    @contextmanager
    def held(self) -> Iterator[None]:
        """Note the first signal instead of raising, while the block runs an event loop."""
        self._is_held = True
        try:
            with self._hearing() if self._owns_process and self._before else nullcontext():
                yield
        finally:
            self._is_held, self._wake = False, None

    @contextmanager
    def _hearing(self) -> Iterator[None]:
        """Let a thread hear the signals, while the block runs."""
        reader, self._heard = os.pipe()
        os.set_blocking(self._heard, False)  # as a handler must not wait
        before = signal.set_wakeup_fd(self._heard, warn_on_full_buffer=False)
        thread = threading.Thread(target=self._hear_all, args=(reader,), daemon=True, name="dataflow signals")
        thread.start()
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            writer, self._heard = self._heard, NO_DESCRIPTOR
            os.write(writer, bytes([NO_MORE]))
            thread.join()
            os.close(writer)

    def _hear_all(self, reader: int) -> None:
        with open(reader, "rb", buffering=0) as numbers:
            while (number := numbers.read(1)[0]) != NO_MORE:
                if number in SIGNALS:  # any other signal with a handler is written there, too
                    self._hear(number)

    def _leave(self) -> None:
        if self._heard != NO_DESCRIPTOR:
            signal.set_wakeup_fd(NO_DESCRIPTOR)
            self._heard = NO_DESCRIPTOR
        self.__exit__()

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
            _after(GRACE, partial(os._exit, code))

    def _catch(self, number: int, _: FrameType | None) -> None:
        if self._heard == NO_DESCRIPTOR:
            self._hear(number)
        elif not self._is_heard():
            os.write(self._heard, bytes([number]))

    def _is_heard(self) -> bool:
        """Say whether signals are written to where they are heard: code of the flow may take them away."""
        found = signal.set_wakeup_fd(self._heard, warn_on_full_buffer=False)
        if found not in (self._heard, NO_DESCRIPTOR):
            signal.set_wakeup_fd(found)
        return found == self._heard

    def _hear(self, number: int) -> None:
        if self.caught is not None or self._is_over:
            self._end_now(number, "ended at once")
        self.caught = number
        if not self._is_held:
            raise Interrupted(number)
        if self._heard != NO_DESCRIPTOR:  # not in a handler, which may start no thread
            _after(PATIENCE, self._lose_patience)
        if not self.is_live:
            shout("cancelling; once more ends at once")
        if self._wake is not None:
            self._wake()

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


def _after(seconds: float, call: Callable[[], object]) -> None:
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
