"""Owning: what is taken over in a thread is given up again if nobody waits for it any more (S11.2)."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from dataflow.threads import call_in_thread

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["owned"]

T = TypeVar("T")


async def owned(take: Callable[[], T], give_up: Callable[[T], None]) -> T:
    """Take something over in a thread; whoever is cancelled meanwhile gives it up."""
    taken: list[T] = []
    guard, is_left = Lock(), False

    def work() -> None:
        made = take()
        with guard:
            if not is_left:
                taken.append(made)
                return
        give_up(made)

    try:
        await call_in_thread(work)
    except BaseException:
        with guard:
            is_left = True
        for made in taken:
            give_up(made)
        raise
    return taken[0]
