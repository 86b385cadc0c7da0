"""Owning: a run is taken over in a thread, and given up again if nobody waits for it any more (S11.2)."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from dataflow.base.failure import text_of_error
from dataflow.core.threads import call_in_thread
from dataflow.errors import DataflowError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataflow.stores import Store

__all__ = ["owned", "told_by"]

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


@contextmanager
def told_by(store: Store) -> Iterator[None]:
    """Tell as StoreError whatever else a store raises."""
    try:
        yield
    except DataflowError:
        raise
    except Exception as error:
        raise StoreError(str(store), f"{type(error).__name__}: {text_of_error(error)}") from error
