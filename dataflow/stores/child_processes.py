"""Release open files in forked child processes, which inherit files that only the parent may use."""

from __future__ import annotations

import os
from functools import cache
from typing import Final, Protocol

__all__ = ["forget_in_children", "may_stay_in_children"]


class ForkSensitive(Protocol):
    """An object with open files that a forked child must not use."""

    def forget(self) -> None:
        """Release the files in the child without affecting the parent."""


_OPEN: Final[set[ForkSensitive]] = set()


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
