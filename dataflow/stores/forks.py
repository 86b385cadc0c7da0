"""What a forked child must let go of: it inherits files that only its parent may use."""

from __future__ import annotations

import os
from functools import cache
from typing import Final, Protocol
from weakref import WeakSet

__all__ = ["forget_in_children"]


class Forgetting(Protocol):
    """What holds files that must not live on in a forked child."""

    def forget(self) -> None:
        """Let go of the files in the child without a change to what the parent has."""


_LIVE: Final[WeakSet[Forgetting]] = WeakSet()


def forget_in_children(thing: Forgetting) -> None:
    """Have `forget` called in every child that is forked from now on."""
    _watch_forks()
    _LIVE.add(thing)


@cache
def _watch_forks() -> None:
    os.register_at_fork(after_in_child=_forget_all)


def _forget_all() -> None:
    for thing in list(_LIVE):
        thing.forget()
