"""Signals: cancel on Ctrl-C, SIGTERM and SIGHUP, also during blocking calls and in forked processes."""

from __future__ import annotations

import os
import select
import signal
import threading
from contextlib import contextmanager, nullcontext, suppress
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final, Self

from dataflow.base.wording import visible
from dataflow.cli.output import Interrupted, code_of_signal, shout

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from types import FrameType

__all__ = ["Interrupts", "SignalThread"]

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SHOW_CURSOR: Final = "\x1b[?25h"
PATIENCE: Final = 6.0  # seconds for a cancelled run, more than `cleanup` of its nodes has by default
GRACE: Final = 1.0  # seconds that remaining threads may delay the end of the process
MOST_NAMED: Final = 3
SLOW: Final = 0.5  # seconds after which the main thread is considered blocked
NO_DESCRIPTOR: Final = -1
NO_MORE: Final = 0  # not the number of a signal, nor is HANDLED
HANDLED: Final = 255


class Interrupts:
    """Handle Ctrl-C, SIGTERM and SIGHUP during the block; outside the main thread the handlers are unchanged.

    A SIGHUP that is ignored, as by `nohup`, remains ignored.

    `owns_process`: the process exists only for the command, so its end may be enforced. Forked processes have
    the previous handlers.
    """

    def __init__(self, *, owns_process: bool = False) -> None:
        self.caught: int | None = None  # the first signal
        self.is_live = False  # the live tree hides the cursor, and shows that the run is being cancelled
        self.running: Callable[[], Sequence[str]] = tuple  # returns the paths of running firings
        self._owns_process = owns_process
        self._is_held = False  # the event loop runs, so a signal is recorded and does not raise
        self._is_over = False  # the run has ended
        self._wake: Callable[[], None] | None = None  # cancels the run, once there is one
        self._before: list[tuple[int, object]] = []
        self._thread: SignalThread | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            taken = SIGNALS if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN else SIGNALS[:-1]
            self._before = [(number, signal.signal(number, self._catch)) for number in taken]
            if self._owns_process:
                self._thread = SignalThread(self._catch, self._hear, self._lose_patience, PATIENCE)
                leave_in_forked(SIGNALS, self._leave)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before:
            signal.signal(number, handler)  # type: ignore[arg-type]  # what `signal` returned
        self._before = []

    @contextmanager
    def held(self) -> Iterator[None]:
        """Record the first signal instead of raising, while the block runs an event loop."""
        with self._thread or nullcontext():
            self._is_held = True
            try:
                yield
            finally:
                self._is_held, self._wake = False, None

    def on_signal(self, wake: Callable[[], None]) -> None:
        """Call `wake`, which must be signal-safe, at the first signal, or now if it was received."""
        self._wake = wake
        if self.caught is not None:
            wake()

    def run_ended(self) -> None:
        """Record that there is nothing left to cancel."""
        self._is_over = True

    def reported(self, code: int) -> None:
        """Record that the end of the run was reported: the process ends soon, even if threads still run."""
        if self._owns_process:
            timer = threading.Timer(GRACE, os._exit, (code,))
            timer.daemon = True
            timer.start()

    def _leave(self) -> None:
        """Restore the previous handlers in a forked process, unless the flow has replaced ours."""
        if self._thread is not None:
            self._thread.leave()
        for number, handler in self._before:
            if signal.getsignal(number) == self._catch:
                signal.signal(number, handler)  # type: ignore[arg-type]  # what `signal` returned
        self._before = []

    def _catch(self, number: int, _: FrameType | None) -> None:
        if self._thread is None or self._thread.handled():
            is_again = self.caught is not None
            self._hear(number)
            if not (self._is_held or is_again):
                raise Interrupted(number)

    def _hear(self, number: int) -> None:
        before = self.caught
        if number == signal.SIGHUP and (before is not None or self._is_over):
            return  # a terminal that closes sends it more than once, and so do others beside another signal
        if self._is_over or before not in (None, signal.SIGHUP):
            self._end_now(number, "ended at once")
        self.caught = number
        if before is not None:
            return
        if self._wake is not None:  # before the run notices programs that the signal has ended too
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


class SignalThread:
    """Call `stand_in` for each signal that the blocked main thread does not pass to `handler`.

    `give_up` is called `patience` seconds after the first signal. A thread calls both. Signals whose handler
    was replaced by other code are ignored.
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
        self._guard = threading.RLock()  # a signal handler may acquire it while the main thread holds it
        self._owed = 0  # signals for which the handler was not called yet
        self._ahead = 0  # signals for which the thread stood in, and the handler may still be called
        self._number = NO_MORE  # the last signal
        self._late = self._lost = inf  # when to stand in for the handler, and when to give up

    def __enter__(self) -> Self:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)  # a signal handler must not wait
        self._thread.start()
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer == NO_DESCRIPTOR:  # a forked process has no thread
            return
        signal.set_wakeup_fd(NO_DESCRIPTOR)  # first: bytes that were written before are still counted
        writer, self._writer = self._writer, NO_DESCRIPTOR
        os.set_blocking(writer, True)
        os.write(writer, bytes([NO_MORE]))
        self._thread.join()
        os.close(writer)
        os.close(self._reader)

    def handled(self) -> bool:
        """Record that the handler was called; returns False if the thread has stood in for it already."""
        if self._writer == NO_DESCRIPTOR:
            return True
        with self._guard:
            if self._ahead > 0:
                self._ahead -= 1
                return False  # a signal since then, merged with this one, is still owed
            self._owed -= 1
        with suppress(BlockingIOError):  # the pipe is full of signals
            os.write(self._writer, bytes([HANDLED]))
        return True

    def leave(self) -> None:
        """Stop listening, in a forked process."""
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
            if number == HANDLED:  # for all before: Python merges pending signals
                self._owed = min(self._owed, 0)
            else:
                self._number = number
                self._owed += 1
        self._late = min(self._late, now + SLOW)  # a key that is held down does not delay it
        self._lost = min(self._lost, now + self._patience)

    def _act(self, now: float) -> None:
        if self._late <= now:
            self._late = inf
            with self._guard:
                missed, self._owed = max(0, self._owed), 0  # below 0 after direct calls by other code
                self._ahead += missed
            for _ in range(missed):
                self._stand_in(self._number)
        if self._lost <= now:
            self._lost = self._patience = inf
            self._give_up()


def leave_in_forked(numbers: Collection[signal.Signals], leave: Callable[[], None]) -> None:
    """Call `leave` in each process forked from now on, before any of these signals arrives there.

    The signals are blocked during the fork, as Python drops pending signals in the new process. Registration
    is permanent: `leave` may be called when there is nothing to restore.
    """
    held = threading.local()  # by the thread that forks

    def hold() -> None:
        held.before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)

    def release() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, held.before)

    def begin() -> None:
        try:
            leave()
        finally:
            release()

    os.register_at_fork(before=hold, after_in_parent=release, after_in_child=begin)
