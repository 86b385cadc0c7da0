"""Locks on files: one has it, asking hinders nobody, and nothing is left."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dataflow.stores import locks
from dataflow.stores.locks import FileLock, is_taken, take


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Do for a while what asking does for a moment."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    yield
    os.close(descriptor)


def taken(path: Path) -> FileLock:
    lock = take(path)
    assert lock is not None
    return lock


def test_a_lock_is_taken_once_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "run.lock"
    first = taken(path)
    assert take(path) is None
    assert first.release()
    assert not first.release()
    taken(path).release()
    assert not is_taken(path)
    assert not list(tmp_path.iterdir())
    path = tmp_path / "run.lock"
    path.touch()
    assert not is_taken(path)
    taken(path).release()
    assert not path.exists()


def test_asking_hinders_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.lock"
    with shared(path):
        assert not is_taken(path)
    lock = taken(path)
    assert is_taken(path)
    lock.release()
    path = tmp_path / "run.lock"
    asking = shared(path)
    asking.__enter__()
    monkeypatch.setattr(time, "sleep", lambda _: asking.__exit__(None, None, None))
    taken(path).release()


def test_a_file_that_its_owner_removed_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.lock"
    lock_file = locks._locked

    def locked_too_late(descriptor: int, how: int) -> bool:
        monkeypatch.setattr(locks, "_locked", lock_file)
        path.unlink()
        return lock_file(descriptor, how)

    monkeypatch.setattr(locks, "_locked", locked_too_late)
    lock = taken(path)
    assert is_taken(path)
    lock.release()
