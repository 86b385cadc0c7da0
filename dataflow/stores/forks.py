"""What a forked child must let go of: it inherits files that only its parent may use."""

from __future__ import annotations

import os
from functools import cache
from typing import Final, Protocol

__all__ = ["forget_in_children", "may_stay_in_children"]


class Forgetting(Protocol):
    """What has files open that must not live on in a forked child."""

    def forget(self) -> None:
        """Let go of the files in the child without a change to what the parent has."""


_OPEN: Final[set[Forgetting]] = set()


def forget_in_children(thing: Forgetting) -> None:
    """Have `forget` called in every child that is forked from now on; until then the thing lives."""
    _watch_forks()
    _OPEN.add(thing)


def may_stay_in_children(thing: Forgetting) -> None:
    """Take back `forget_in_children` for what has closed its files."""
    _OPEN.discard(thing)


@cache
def _watch_forks() -> None:
    os.register_at_fork(after_in_child=_forget_all)


def _forget_all() -> None:
    while _OPEN:
        _OPEN.pop().forget()
