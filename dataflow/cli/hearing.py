"""A thread that hears signals where the main thread cannot.

Python calls handlers in the main thread, between two of its instructions: not while a node is in a long call
there, and not if a signal comes just before one. But the signal is written to a descriptor even then.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from contextlib import suppress
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Hearing"]

SLOW: Final = 0.5  # seconds after which the main thread is taken for one that calls no handlers
NO_DESCRIPTOR: Final = -1
NO_MORE: Final = 0  # as HANDLED, the number of no signal
HANDLED: Final = 255


class Hearing:
    """Call `stand_in`, while the block runs, for each signal of `handler` that it is not called for.

    `patience` seconds after the first signal `give_up` is called. The thread calls both. A signal that other
    code has taken over is none of `handler`.
    """

    def __init__(
        self,
        handler: Callable[..., None],
        stand_in: Callable[[int], None],
        give_up: Callable[[], None],
        patience: float,
    ) -> None:
        self._handler = handler
        self._stand_in = stand_in
        self._give_up = give_up
        self._patience = patience
        self._reader = self._writer = NO_DESCRIPTOR
        self._thread = threading.Thread(target=self._listen, daemon=True, name="dataflow signals")
        self._guard = threading.RLock()  # a handler may take it again while the main thread has it
        self._owed = 0  # signals that the handler was not called for yet
        self._ahead = 0  # signals that the handler may still be called for, though the thread stood in
        self._number = NO_MORE  # the last signal
        self._late = self._lost = inf  # when to stand in for the handler, and when to give up

    def __enter__(self) -> Self:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)  # as a signal must not wait
        self._thread.start()
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer == NO_DESCRIPTOR:  # in a process that was forked off, which has no thread
            return
        signal.set_wakeup_fd(NO_DESCRIPTOR)  # first, for what is written there is counted until then
        writer, self._writer = self._writer, NO_DESCRIPTOR
        os.set_blocking(writer, True)
        os.write(writer, bytes([NO_MORE]))
        self._thread.join()
        os.close(writer)
        os.close(self._reader)

    def handled(self) -> bool:
        """Note that the handler was called; returns False if the thread has stood in for it already."""
        if self._writer == NO_DESCRIPTOR:
            return True
        with self._guard:
            was_ahead = self._ahead > 0
            if was_ahead:
                self._ahead -= 1
            else:
                self._owed -= 1
        with suppress(BlockingIOError):  # there is more than enough to read already
            os.write(self._writer, bytes([HANDLED]))
        return not was_ahead

    def leave(self) -> None:
        """Hear nothing any more, in a process that was forked off."""
        if self._writer != NO_DESCRIPTOR:
            signal.set_wakeup_fd(NO_DESCRIPTOR)
            self._writer = NO_DESCRIPTOR

    def _listen(self) -> None:
        poll = select.poll()
        poll.register(self._reader, select.POLLIN)
        while True:
            if not poll.poll(self._milliseconds()):
                self._act(monotonic())
            elif (number := os.read(self._reader, 1)[0]) == NO_MORE:
                return
            elif number == HANDLED or signal.getsignal(number) == self._handler:
                self._note(number, monotonic())

    def _milliseconds(self) -> float | None:
        due = min(self._late, self._lost)
        return None if due == inf else max(0.0, due - monotonic()) * 1000

    def _note(self, number: int, now: float) -> None:
        with self._guard:
            if number == HANDLED:  # for all before: Python puts signals together that it has not told
                self._owed = min(self._owed, 0)
            else:
                self._number = number
                self._owed += 1
        self._late = min(self._late, now + SLOW)  # a key that is held down does not put it off
        self._lost = min(self._lost, now + self._patience)

    def _act(self, now: float) -> None:
        if self._late <= now:
            self._late = inf
            with self._guard:
                missed, self._owed = max(0, self._owed), 0  # below 0 after calls that other code has made
                self._ahead += missed
            for _ in range(missed):
                self._stand_in(self._number)
        if self._lost <= now:
            self._lost = self._patience = inf
            self._give_up()
