"""Advisory file locks that are released when their process ends, and open files in forked children (S11.2).

The library filelock is not used, since two features are missing. A query whether a lock is taken must work
without write access to its file, and must not be mistaken for an owner: it takes a shared lock, which differs
from an owner's exclusive one. And the file of a released lock must be removed.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager, suppress
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "PRIVATE_FILE",
    "FileLock",
    "forget_in_children",
    "is_taken",
    "may_stay_in_children",
    "take",
    "wait_for",
]

#: How long `take` retries while others only query the lock, and the pause between two tries, in seconds: the
#: system cannot wait for a lock with a timeout. A query takes microseconds, but its process may be suspended.
PATIENCE: Final = 10.0
PAUSE: Final = 0.001
#: The permissions of a new file.
PRIVATE_FILE: Final = 0o600
#: What has files open that a forked child must not use.
_OPEN: Final[set[ForkSensitive]] = set()


class FileLock:
    """A lock that this process owns."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor
        self._guard = Lock()
        forget_in_children(self)

    def release(self) -> bool:
        """Release the lock and remove its file; return False if it was released before."""
        with self._guard:
            if self._descriptor is None:
                return False
            descriptor, self._descriptor = self._descriptor, None
            may_stay_in_children(self)
        with suppress(OSError):  # a file that cannot be removed does not block its lock
            self._path.unlink()  # before the release, while no other process can own it
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # closing is not enough if a process is just being forked
        os.close(descriptor)
        return True

    def forget(self) -> None:
        """Close the child's copy; the parent keeps the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def take(path: Path) -> FileLock | None:
    """Take the lock of a file, which is created; return None if it is taken."""
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
    """Wait for the lock of a file and take it; only for locks that are held briefly."""
    while True:
        with _opened(path, os.O_RDWR | os.O_CREAT) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_at(path, descriptor):
                return FileLock(path, os.dup(descriptor))


def is_taken(path: Path) -> bool:
    """Return whether any process, this one included, owns the lock of a file; creates no file."""
    try:
        with _opened(path, os.O_RDONLY) as descriptor:
            return _is_owned(descriptor)
    except FileNotFoundError:
        return False


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    """Open a file; a duplicate of the descriptor keeps the lock that was taken through it."""
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_FILE)
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
    """Return whether the file still exists: the previous owner of the lock may have removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


class ForkSensitive(Protocol):
    """An object with open files that a forked child must not use."""

    def forget(self) -> None:
        """Release the files in the child without affecting the parent."""


def forget_in_children(thing: ForkSensitive) -> None:
    """Call `forget` of an object in every child forked from now on; the object is kept alive until then."""
    _watch_forks()
    _OPEN.add(thing)


def may_stay_in_children(thing: ForkSensitive) -> None:
    """Undo `forget_in_children` for an object that has closed its files."""
    _OPEN.discard(thing)


@cache
def _watch_forks() -> None:
    os.register_at_fork(after_in_child=_forget_all)


def _forget_all() -> None:
    while _OPEN:
        _OPEN.pop().forget()
