"""Locks that die with their process: an advisory lock on a file each (S11.2).

The library filelock is not used, since it lacks two things that are needed here. Whether a lock is taken has
to be told without write access to its file, and so that nobody takes the one who asks for an owner: asking
takes a shared lock, which is known from an owner's. And the file of a lock that was released has to go.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, Final

from dataflow.stores.forks import forget_in_children, may_stay_in_children

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["FileLock", "is_taken", "take", "wait_for"]

#: How long a lock is tried for while others only ask about it, and the pause between two tries, in seconds:
#: the system cannot wait for a lock and give up after a time. Asking takes microseconds, but a process that
#: asks may be kept from going on.
PATIENCE: Final = 10.0
PAUSE: Final = 0.001


class FileLock:
    """A lock that was taken."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor
        self._guard = Lock()
        forget_in_children(self)

    def release(self) -> bool:
        """Give the lock up and remove its file; tell whether it was still taken."""
        with self._guard:
            if self._descriptor is None:
                return False
            descriptor, self._descriptor = self._descriptor, None
            may_stay_in_children(self)
        with suppress(OSError):  # a file that cannot be removed keeps nobody from taking its lock
            self._path.unlink()  # before the lock is given up, so that it is nobody else's
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # closing is not enough if a process is just being forked
        os.close(descriptor)
        return True

    def forget(self) -> None:
        """Close the child's copy; the lock stays the parent's."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def take(path: Path) -> FileLock | None:
    """Take the lock of a file, which is made; return None if somebody has it."""
    until = time.monotonic() + PATIENCE
    while True:
        with _opened(path, os.O_RDWR | os.O_CREAT) as descriptor:
            if _locked(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB):
                if _is_at(path, descriptor):
                    return FileLock(path, os.dup(descriptor))
                continue
            owned = _is_owned(descriptor)
        if owned or time.monotonic() > until:
            return None
        time.sleep(PAUSE)


def wait_for(path: Path) -> FileLock:
    """Take the lock of a file as soon as nobody has it; only for what takes a moment."""
    while True:
        with _opened(path, os.O_RDWR | os.O_CREAT) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_at(path, descriptor):
                return FileLock(path, os.dup(descriptor))


def is_taken(path: Path) -> bool:
    """Tell whether somebody, this process included, has the lock of a file; makes none."""
    try:
        with _opened(path, os.O_RDONLY) as descriptor:
            return _is_owned(descriptor)
    except FileNotFoundError:
        return False


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    """Open a file; what duplicates the descriptor keeps the lock that was taken through it."""
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        return False
    return True


def _is_owned(descriptor: int) -> bool:
    if not _locked(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB):
        return True
    fcntl.flock(descriptor, fcntl.LOCK_UN)  # closing is not enough if a process is just being forked
    return False


def _is_at(path: Path, descriptor: int) -> bool:
    """Tell whether a file is still there: the one who had its lock may have removed it meanwhile."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
