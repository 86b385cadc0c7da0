"""Processes that code of a flow forks off: signals do there what they did before the command took them."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

__all__ = ["leave_in_forked"]


def leave_in_forked(numbers: Collection[signal.Signals], leave: Callable[[], None]) -> None:
    """Call `leave` in each process that is forked off from now on, before any of these signals arrives there.

    They are held back while it is forked: Python drops what is to be handled when the new process is set up.
    It cannot be taken back: `leave` may be called when there is nothing left to give back.
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
